#include "table/elections/leaders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "table/bequests.h"

namespace turno::table {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Leadership leading(std::uint64_t term, std::uint64_t member, std::string value = "v") {
  return {.election = "e",
          .term = Fence{term},
          .state = Leadership::State::leads,
          .member = member,
          .value = std::move(value),
          .client = "c"};
}
Leadership ended_at(std::uint64_t term, std::uint64_t member) {
  return {
      .election = "e", .term = Fence{term}, .state = Leadership::State::ended, .member = member};
}
cluster::View view_with(std::initializer_list<std::uint64_t> ids) {
  cluster::View view;
  for (const auto id : ids) view.members.push_back({.id = id});
  return view;
}

TEST(Leaders, KnowTheLast) {
  Leaders leaders;
  EXPECT_EQ(leaders.leader_of("e"), nullptr);
  EXPECT_TRUE(leaders.hear(leading(1, 10)));
  EXPECT_FALSE(leaders.hear(leading(1, 10))) << "that is known";
  ASSERT_NE(leaders.leader_of("e"), nullptr);
  EXPECT_EQ(leaders.leader_of("e")->value, "v");
  EXPECT_TRUE(leaders.hear(leading(2, 11, "w")));
  EXPECT_EQ(leaders.leader_of("e")->term, Fence{2});
  EXPECT_TRUE(leaders.hear(ended_at(2, 11)));
  EXPECT_EQ(leaders.leader_of("e"), nullptr);
}

TEST(Leaders, HearNothingOlder) {
  Leaders leaders;
  leaders.hear(leading(2, 11));
  EXPECT_FALSE(leaders.hear(leading(1, 10))) << "it came on a slower way";
  EXPECT_FALSE(leaders.hear(ended_at(1, 10)));
  EXPECT_EQ(leaders.leader_of("e")->term, Fence{2});
  leaders.hear(ended_at(2, 11));
  EXPECT_FALSE(leaders.hear(leading(1, 10))) << "also when nobody leads";
  EXPECT_FALSE(leaders.hear(leading(2, 11))) << "it has ended";
}

TEST(Leaders, AnEndThatOvertakesItsBeginningIsNoChangeIfNobodyLed) {
  Leaders leaders;
  EXPECT_FALSE(leaders.hear(ended_at(1, 10)));
  EXPECT_FALSE(leaders.hear(leading(1, 10)));
  leaders.hear(leading(2, 10));
  EXPECT_TRUE(leaders.hear(ended_at(3, 11))) << "the leader of term 2 leads no more";
}

TEST(Leaders, MoveToAnotherMemberAndKeepTheirTerm) {
  Leaders leaders;
  leaders.hear(leading(1, 10));
  EXPECT_TRUE(leaders.hear(leading(1, 11)));
  EXPECT_THAT(leaders.adopt(view_with({11, 12})), IsEmpty()) << "where it is now is a member";
  EXPECT_EQ(leaders.leader_of("e")->member, 11U);
}

TEST(Leaders, OfMembersThatAreGoneAreGone) {
  Leaders leaders;
  leaders.hear(leading(1, 10));
  const auto changes = leaders.adopt(view_with({11}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_FALSE(changes[0].leads());
  EXPECT_EQ(leaders.leader_of("e"), nullptr);
  EXPECT_TRUE(leaders.hear(leading(1, 11))) << "it had moved, and its heir says so now";
  EXPECT_THAT(leaders.adopt(view_with({11})), IsEmpty());
}

TEST(Leaders, OfWhomTheirMemberDoesNotTellInANewViewHaveEnded) {
  Leaders leaders;
  leaders.hear(leading(1, 10));
  auto other = leading(7, 10);
  other.election = "f";
  leaders.hear(other);
  leaders.adopt(view_with({10, 11}));
  EXPECT_FALSE(leaders.hear(other)) << "known, and confirmed";
  EXPECT_THAT(leaders.heard_all_of(11), IsEmpty());
  const auto changes = leaders.heard_all_of(10);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].election, "e");
  EXPECT_EQ(changes[0].state, Leadership::State::ended);
  EXPECT_EQ(leaders.leader_of("e"), nullptr);
  EXPECT_NE(leaders.leader_of("f"), nullptr);
}

TEST(Leaders, RememberEndsWithinABound) {
  Leaders leaders;
  for (std::size_t i = 0; i < Leaders::most_ended + 10; ++i) {
    auto one = leading(1, 10);
    one.election = std::to_string(i);
    leaders.hear(one);
    one.state = Leadership::State::ended;
    leaders.hear(one);
  }
  EXPECT_EQ(leaders.size(), Leaders::most_ended);
  auto early = leading(1, 10);
  early.election = std::to_string(Leaders::most_ended);
  EXPECT_FALSE(leaders.hear(early));
}

TEST(Leadership, IsReadAsItWasWritten) {
  const auto written = leading(1ULL << 40, 10, std::string(longest_value, '\0'));
  std::string bytes;
  wire::Writer out(bytes);
  encode(out, written);
  wire::Reader in(bytes);
  EXPECT_EQ(decode_leadership(in), written);
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    wire::Reader cut(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(decode_leadership(cut));
  }
}

TEST(Leadership, ThatCannotBeIsNone) {
  const auto read = [](const Leadership& leadership) {
    std::string bytes;
    wire::Writer out(bytes);
    encode(out, leadership);
    wire::Reader in(bytes);
    return decode_leadership(in).has_value();
  };
  auto wrong = leading(1, 10);
  EXPECT_TRUE(read(wrong));
  wrong.election.clear();
  EXPECT_FALSE(read(wrong)) << "no name";
  EXPECT_FALSE(read(leading(0, 10))) << "no term";
  EXPECT_FALSE(read(leading(1, 10, std::string(longest_value + 1, 'v'))));
  wrong = leading(1, 10);
  wrong.state = Leadership::State::gone;
  EXPECT_FALSE(read(wrong)) << "that is for a member to find out";
}

// Leaders begin and end at three members; their news come to an observer in order from each, in
// any order from several. Views come in between, and what was under way is lost then. What the
// observer is told goes forward, and in the end it knows who leads.
TEST(Leaders, WhateverTheOrderOfNewsGoForward) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Leaders leaders;
    struct News {
      std::optional<Leadership> leadership;  // or all of that member have been told
    };
    std::map<std::uint64_t, std::deque<News>> ways;
    std::optional<Leadership> now;
    std::uint64_t term = 0, told = 0;
    const auto note = [&](const Leadership& change) {
      EXPECT_GE(change.term.value, told) << "seed " << seed;
      told = change.term.value;
    };
    const auto deliver = [&](std::uint64_t from) {
      auto& way = ways[from];
      if (way.empty()) return;
      const auto news = way.front();
      way.pop_front();
      if (news.leadership && leaders.hear(*news.leadership)) note(*news.leadership);
      if (!news.leadership)
        for (const auto& change : leaders.heard_all_of(from)) note(change);
    };
    for (int step = 0; step < 60; ++step) {
      const auto what = random() % 10;
      const std::uint64_t member = 10 + random() % 3;
      if (what < 2 && !now) {
        now = leading(++term, member);
        ways[member].push_back({now});
      } else if (what < 4 && now) {
        ways[now->member].push_back({ended_at(term, now->member)});
        now.reset();
      } else if (what == 4) {
        ways.clear();
        for (const auto& change : leaders.adopt(view_with({10, 11, 12}))) note(change);
        if (now) ways[now->member].push_back({now});
        for (const std::uint64_t each : {10, 11, 12}) ways[each].push_back({});
      } else {
        deliver(member);
      }
    }
    for (const std::uint64_t each : {10, 11, 12})
      while (!ways[each].empty()) deliver(each);
    const auto* known = leaders.leader_of("e");
    EXPECT_EQ(known != nullptr, now.has_value()) << "seed " << seed;
    if (known != nullptr && now) {
      EXPECT_EQ(known->term, now->term) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace turno::table

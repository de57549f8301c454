#include "cluster/waits/pursuit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <queue>

#include "cluster/waits/waits_testing.h"

namespace turno::cluster {
namespace {

using Without = Tangle::Without;

struct Dice {
  std::uint64_t members = 3, sessions = 6;
  std::uint64_t longest_way = 40;  // of a message
  std::uint64_t longest_act = 30;  // between two acts of a session
  std::uint64_t acts_until = 2000;
  bool locks_only = false, deaths = true;
};

// Users that ask, give back, lose patience and die while members pursue their waits, by messages
// that take their time. A knot that is found must have been one, by the dumb way to know it.
class Storm {
 public:
  Storm(std::uint64_t seed, const Dice& dice, Without without)
      : random_(seed), dice_(dice), without_(without) {
    for (std::uint64_t member = 1; member <= dice.members; ++member)
      after(random_.below(50), [this, member] { pursue(member); });
    for (std::uint64_t session = 1; session <= dice.sessions; ++session) {
      const Party party{1 + (session % dice.members), session};
      world_.begin(party);
      after(random_.below(dice_.longest_act), [this, party] { act(party); });
    }
  }

  // False: somebody was said to be stuck who was not.
  bool run() {
    while (!events_.empty() && now_ < dice_.acts_until + 5000 && !lied_) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.at;
      event.work();
    }
    return !lied_;
  }
  [[nodiscard]] int aborted() const { return aborted_; }
  // When nobody begins anything any more: whoever still waits.
  [[nodiscard]] std::size_t waiting() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        world_.all(), [](const auto& each) { return !each.second.waits.empty(); }));
  }

 private:
  struct Event {
    std::uint64_t at, number;
    std::function<void()> work;
    bool operator>(const Event& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };
  struct Round {
    std::size_t missing = 0;
    std::vector<Testimony> answers;
    std::set<Party> truth;  // when its question was put
  };

  void after(std::uint64_t time, std::function<void()> work) {
    events_.push({now_ + time, ++numbers_, std::move(work)});
  }
  std::uint64_t way() { return 1 + random_.below(dice_.longest_way); }

  Need wish() {
    const auto some = [](std::uint32_t units) {
      return Need{.thing = {1, "permits"}, .units = units, .most = 2};
    };
    const auto in = [](const std::string& group) {
      return Need{.thing = {3, "room"}, .most = Need::unlimited, .group = group};
    };
    const auto lock = Need{.thing = {0, std::string(1, static_cast<char>('a' + random_.below(4)))}};
    if (dice_.locks_only) return lock;
    const std::vector<Need> all = {lock, lock, some(1), some(1), some(2), in("r"), in("w")};
    return all[random_.below(all.size())];
  }

  void act(Party party) {
    if (!world_.lives(party)) return;
    after(1 + random_.below(dice_.longest_act), [this, party] { act(party); });
    const auto session = world_.of(party);
    const bool over = now_ > dice_.acts_until;
    const bool commanded = std::ranges::any_of(session.waits, &TrueWaits::Wait::by_command);
    if (!over && !session.waits.empty() && random_.below(20) == 0) {
      world_.withdraw(party, session.waits[0].number);
    } else if (!over && dice_.deaths && random_.below(200) == 0) {
      world_.end(party);
      follow(party);
    } else if (!over && dice_.deaths && random_.below(1000) == 0) {
      crash(party.member);
    } else if (commanded || (over && !session.waits.empty())) {
      return give_back_to_task(party);
    } else if (!session.has.empty() && (over || random_.below(3) == 0)) {
      world_.give_back(party, random_.below(session.has.size()));
    } else if (!over && session.waits.size() < 2 && session.has.size() < 3) {
      const bool async = !dice_.locks_only && random_.below(3) == 0;
      const auto need = wish();
      const bool has_it = std::ranges::any_of(
          session.has, [&](const Possession& each) { return each.thing == need.thing; });
      if (!dice_.locks_only || !has_it) world_.ask(party, need, !async && session.waits.empty());
    }
    world_.serve();
  }
  // Another session takes the place of one that is gone.
  void follow(Party gone) {
    const Party next{gone.member, gone.session + dice_.sessions};
    world_.begin(next);
    after(1, [this, next] { act(next); });
  }
  void crash(std::uint64_t member) {
    std::vector<Party> gone;
    for (const auto& [party, session] : world_.all())
      if (party.member == member) gone.push_back(party);
    world_.end_member(member);
    for (const auto& party : gone) follow(party);
  }
  // A session whose task waits for another of its tasks is not stuck: that one goes on.
  void give_back_to_task(Party party) {
    const auto& session = world_.of(party);
    for (const auto& wait : session.waits)
      for (std::size_t i = 0; i < session.has.size(); ++i)
        if (!wait.by_command && session.has[i].thing == wait.need.thing) {
          world_.give_back(party, i);
          return world_.serve();
        }
  }

  void pursue(std::uint64_t member) {
    const auto pursuit = std::make_shared<Pursuit>(world_.blocked(member), without_);
    put_question(member, pursuit);
  }
  void put_question(std::uint64_t member, const std::shared_ptr<Pursuit>& pursuit) {
    const auto round = std::make_shared<Round>();
    round->truth = world_.who_never_goes_on();
    if (pursuit->over()) return conclude(member, *pursuit, *round);
    round->missing = dice_.members;
    const auto done = [this, member, pursuit, round] {
      if (--round->missing > 0) return;
      pursuit->hear(round->answers);
      pursuit->over() ? conclude(member, *pursuit, *round) : put_question(member, pursuit);
    };
    for (std::uint64_t other = 1; other <= dice_.members; ++other) {
      const auto things = pursuit->question();
      after(way(), [this, other, things, round, done] {
        const auto said = world_.testify(other, things);
        const bool is_lost = now_ <= dice_.acts_until && random_.below(50) == 0;
        after(way(), [round, said, is_lost, done] {
          if (!is_lost) round->answers.insert(round->answers.end(), said.begin(), said.end());
          done();
        });
      });
    }
  }
  void conclude(std::uint64_t member, const Pursuit& pursuit, const Round& round) {
    after(20 + random_.below(50), [this, member] { pursue(member); });
    const auto& certain = pursuit.certain();
    for (const auto& knot : certain.knots()) {
      for (const auto& party : knot) lied_ |= !round.truth.contains(party);
      const bool mine =
          std::ranges::any_of(knot, [&](const Party& party) { return party.member == member; });
      if (!mine) continue;
      const auto youngest = certain.youngest(knot);
      const auto wait = certain.circle(youngest, knot)[0].wait->number;
      after(way(), [this, youngest, wait] {
        if (!world_.withdraw(youngest, wait)) return;
        ++aborted_;
        world_.serve();
      });
    }
  }

  Random random_;
  const Dice dice_;
  const Without without_;
  TrueWaits world_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t now_ = 0, numbers_ = 0;
  int aborted_ = 0;
  bool lied_ = false;
};

TEST(Pursuit, NeverFindsADeadlockThatIsNotAndLeavesNobodyWaiting) {
  int aborted = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice;
    dice.members = 1 + (seed % 4);
    dice.sessions = 3 + (seed % 6);
    dice.locks_only = seed % 3 == 0;
    Storm storm(seed, dice, Without::none);
    ASSERT_TRUE(storm.run()) << "seed " << seed;
    ASSERT_EQ(storm.waiting(), 0U) << "seed " << seed;
    aborted += storm.aborted();
  }
  EXPECT_GT(aborted, 100);
}

// Without one of the rules somebody is said to be stuck who is not, in some order of events.
class Taken : public ::testing::TestWithParam<Without> {};

TEST_P(Taken, AwayARuleIsMissed) {
  bool lied = false;
  for (std::uint64_t seed = 1; seed <= 400 && !lied; ++seed)
    lied = !Storm(seed, {.members = 3, .sessions = 7}, GetParam()).run();
  EXPECT_TRUE(lied);
}

INSTANTIATE_TEST_SUITE_P(Rules, Taken,
                         ::testing::Values(Without::confirmation, Without::numbers, Without::asked,
                                           Without::all_waits, Without::all_holders,
                                           Without::tasks));

// Everybody on it finds the same circle, and says of the same one that it has to give in.
TEST(Pursuit, AllWhoFindADeadlockAgreeOnTheYoungest) {
  TrueWaits world;
  const auto lock = [](std::uint64_t i) { return Need{.thing = {0, "lock-" + std::to_string(i)}}; };
  constexpr std::uint64_t count = 5;
  for (std::uint64_t i = 0; i < count; ++i) world.ask({i, 10 - i}, lock(i));
  for (std::uint64_t i = 0; i < count; ++i) world.ask({i, 10 - i}, lock((i + 1) % count));
  for (std::uint64_t i = 0; i < count; ++i) {
    Pursuit pursuit(world.blocked(i));
    std::size_t questions = 0;
    for (; !pursuit.over(); ++questions) {
      std::vector<Testimony> all;
      for (std::uint64_t member = 0; member < count; ++member)
        for (const auto& said : world.testify(member, pursuit.question())) all.push_back(said);
      pursuit.hear(all);
    }
    EXPECT_EQ(questions, count + 1);
    const auto knots = pursuit.certain().knots();
    ASSERT_EQ(knots.size(), 1U);
    EXPECT_EQ(knots[0].size(), count);
    EXPECT_EQ(pursuit.certain().youngest(knots[0]), (Party{0, 10}));
  }
}

TEST(Pursuit, AsksNothingIfNobodyWaitsAndEndsHoweverLongTheWay) {
  EXPECT_TRUE(Pursuit(std::vector<Testimony>{}).over());
  Pursuit pursuit(std::set<NamedThing>{{0, "0"}});
  std::uint64_t questions = 0;
  while (!pursuit.over()) {
    ++questions;
    Testimony next{.party = {1, questions}};
    next.has.push_back({.thing = {0, std::to_string(questions - 1)}, .number = 1});
    next.waits.push_back({.number = 1, .needs = {{.thing = {0, std::to_string(questions)}}}});
    pursuit.hear({next});
  }
  EXPECT_EQ(questions, Pursuit::most_questions);
  EXPECT_TRUE(pursuit.certain().knots().empty());
}

}  // namespace
}  // namespace turno::cluster

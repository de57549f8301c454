// The table of stores, with a peer that the test plays: the other member of a view of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "cluster/rendezvous.h"
#include "cluster/seated.h"
#include "net/loop.h"
#include "protocols/allocation/brokered.h"
#include "protocols/allocation/central_allocator.h"
#include "protocols/allocation/grid.h"
#include "table/pools/pool_table.h"
#include "wire/codec.h"

namespace turno::table {
namespace {

using namespace std::chrono_literals;
using cluster::Claim;
using cluster::Resource;
using State = Waiter::State;
using StoreMessage = cluster::Seated<protocols::CentralAllocator>::Message;
using ::testing::ElementsAre;

class StoreAsker final : public PermitWaiter {
 public:
  StoreAsker(const Owner& who, std::vector<Claim> wanted) : PermitWaiter(who) {
    claims = std::move(wanted);
  }
  void settled(Afterwards&) override {}
};

class StoreTableTest : public testing::Test {
 protected:
  StoreTableTest() { begin("central-allocator"); }
  void begin(std::string_view algorithm) {
    store_link_ = std::make_shared<net::Link>(
        loop_, net::Identity{1, 1}, net::Peer{2, "b", "127.0.0.1:1"},
        net::Link::Handlers{[](const std::string&) {}, [](std::uint32_t) {}});
    table_ = std::make_unique<PoolTable>(
        make_store_engine(algorithm), PoolTable::Options{},
        [this](const Owner&, Thing, const std::string& name, Fence, std::string_view) {
          lost_.push_back(name);
        },
        Table::Wake{}, Thing::store);
    view_.members = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};  // the same in every run
    enter(1);
  }
  void enter(std::uint32_t epoch, bool delayed = false) {
    view_.epoch = epoch;
    table_->adopt(view_, NodeId{0}, {nullptr, store_link_}, {.delayed = delayed});
  }
  // The other member wants to take part, and crashes; another one comes in its place.
  void lose_the_other(const std::string& name) {
    std::string body;
    wire::Writer out(body);
    encode(out, name, cluster::DeskMessage<StoreMessage>{{.kind = NoteKind::open}});
    EXPECT_TRUE(hear(NoteKind::open, 0, body));
    view_.members[1] = {.id = 3, .name = "c"};
    enter(2, true);
  }
  [[nodiscard]] std::string name_at(NodeId home) const {
    for (int n = 0;; ++n)
      if (auto name = "store " + std::to_string(n); cluster::home_of(name, view_) == home)
        return name;
  }
  bool hear(NoteKind kind, std::uint64_t instance, const std::string& body) {
    return table_->receive(NodeId{1},
                           {view_.epoch, instance, frame_kind(Thing::store, kind), body});
  }
  StoreAsker& asker(std::vector<Claim> claims) {
    return askers_.emplace_back(owner_, std::move(claims));
  }
  // A member that has lost its mind, also about the messages of the algorithm.
  template <Protocol P>
  void hear_anything(std::uint64_t seed);

  const Owner owner_{1, "one"};
  net::Loop loop_;  // nobody runs it: what is sent stays in the link
  std::shared_ptr<net::Link> store_link_;
  std::deque<StoreAsker> askers_;
  std::vector<std::string> lost_;
  std::unique_ptr<PoolTable> table_;
  cluster::View view_;
};

TEST_F(StoreTableTest, EachReservationHasAFenceOfItsOwn) {
  const auto name = name_at(NodeId{0});
  hear(NoteKind::reported, 0, "");
  auto& one = asker({{"gpu", 1, 2}});
  EXPECT_TRUE(table_->acquire(name, one));
  EXPECT_THAT(one.resources, ElementsAre(Resource{"gpu", 0, one.fence}));
  auto& two = asker({{"gpu", 1, 2}});
  EXPECT_TRUE(table_->acquire(name, two));
  ASSERT_EQ(two.resources.size(), 1U);
  EXPECT_EQ(two.resources.front().number, 1U);
  EXPECT_EQ(two.resources.front().fence, one.fence) << "each instance counts by itself";
  EXPECT_GT(two.fence, one.fence);
  EXPECT_TRUE(table_->holds(name, owner_, one.fence));
  EXPECT_EQ(table_->release(name, owner_, one.fence), 1U);
  EXPECT_FALSE(table_->holds(name, owner_, one.fence));
  EXPECT_TRUE(table_->take_back(name, two.fence, "because", &owner_));
  EXPECT_THAT(lost_, ElementsAre(name));
}

// Whoever has something keeps it in the next view; what nobody living has is kept for the dead.
TEST_F(StoreTableTest, WhatTheDeadMayHaveIsKept) {
  auto next = view_;
  next.members[1].id = 3;
  auto name = name_at(NodeId{0});
  for (int n = 0;
       cluster::home_of(name, next) != NodeId{0} || cluster::home_of(name, view_) != NodeId{0};)
    name = "store " + std::to_string(n++);
  hear(NoteKind::reported, 0, "");
  auto& one = asker({{"gpu", 1, 3}});
  ASSERT_TRUE(table_->acquire(name, one));
  lose_the_other(name);
  auto& two = asker({{"gpu", 2, 3}});
  EXPECT_FALSE(table_->acquire(name, two));
  hear(NoteKind::reported, 0, "");
  EXPECT_EQ(two.state, State::waiting);
  const auto seen = table_->sightings(name, 10).list;
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_TRUE(seen[0].is(Sighting::Kind::kept));
  EXPECT_THAT(seen[0].resources, ElementsAre(Resource{"gpu", 1}, Resource{"gpu", 2}));
  EXPECT_TRUE(seen[1].is(Sighting::Kind::holds));
  EXPECT_THAT(seen[2].resources, ElementsAre(Resource{"gpu", 2})) << "it wants two";
  table_->end_delay();
  EXPECT_EQ(two.state, State::granted);
  ASSERT_EQ(two.resources.size(), 2U);
  EXPECT_EQ(table_->release(name, owner_, two.fence), 2U);
  EXPECT_EQ(table_->release(name, owner_, one.fence), 1U);
}

TEST_F(StoreTableTest, SaysWhyItCannotBe) {
  using Reason = cluster::Refusal::Reason;
  const auto name = name_at(NodeId{0});
  hear(NoteKind::reported, 0, "");
  ASSERT_TRUE(table_->acquire(name, asker({{"gpu", 1, 2}, {"tape", 1, 1}})));
  const auto reason_of = [&](std::vector<Claim> claims) {
    auto& refused = asker(std::move(claims));
    EXPECT_FALSE(table_->acquire(name, refused));
    EXPECT_EQ(refused.state, State::refused);
    return std::tuple(refused.reason, refused.refused_type, refused.known_permits);
  };
  EXPECT_EQ(reason_of({{"gpu", 1, 3}}), std::tuple(Reason::contradicts, "gpu", 2U));
  EXPECT_EQ(reason_of({{"gpu", 1, 0}, {"tape", 2, 0}}), std::tuple(Reason::too_many, "tape", 1U));
  EXPECT_EQ(reason_of({{"disk", 5, 4}}), std::tuple(Reason::too_many, "disk", 4U));
  EXPECT_EQ(reason_of({{"disk", 1, 0}}), std::tuple(Reason::unknown, "disk", 0U));
  EXPECT_EQ(reason_of({{"disk", 1, 1022}}), std::tuple(Reason::full, "disk", 1022U));
  EXPECT_TRUE(table_->acquire(name, asker({{"disk", 1, 1021}, {"gpu", 1, 0}})));
}

// Those that nobody uses make room for others.
TEST_F(StoreTableTest, TypesThatNobodyUsesAreForgotten) {
  const auto name = name_at(NodeId{0});
  hear(NoteKind::reported, 0, "");
  for (std::size_t i = 0; i < 3 * cluster::most_types; ++i) {
    auto& one = asker({{"type" + std::to_string(i), 1, 1}});
    ASSERT_TRUE(table_->acquire(name, one)) << i;
    EXPECT_EQ(table_->release(name, owner_, one.fence), 1U);
  }
}

template <Protocol P>
void StoreTableTest::hear_anything(std::uint64_t seed) {
  using Message = typename cluster::Seated<P>::Message;
  begin(P::info.name);
  std::mt19937_64 random(seed);
  const auto any = [&](std::uint64_t below) { return random() % below; };
  const auto small = [&](std::uint64_t below) { return static_cast<std::uint32_t>(any(below)); };
  const std::vector<std::string> names = {name_at(NodeId{0}), name_at(NodeId{1}), "x"};
  std::vector<StoreAsker*> asking(names.size());
  hear(NoteKind::reported, 0, "");
  std::uint64_t granted = 0, understood = 0;
  for (int i = 0; i < 6'000; ++i) {
    const auto which = any(names.size());
    const auto kind = static_cast<NoteKind>(any(cluster::Note::kinds.size()));
    const auto instance = global_instance(NodeId{any(2)}, 1 + any(6));
    std::string body;
    wire::Writer out(body);
    cluster::DeskMessage<Message> message{{.kind = kind}};
    for (auto more = any(3); more > 0; --more)
      message.holdings.push_back({.seat = NodeId{any(3)}, .units = {small(4), small(4)}});
    message.count = any(50) == 0 ? random() >> any(64) : any(100);
    for (auto types = any(4); types > 0; --types)
      message.terms.groups.push_back({std::string(1, static_cast<char>('a' + any(3))), small(4)});
    message.terms.seats = small(6);
    if (kind == NoteKind::protocol) {
      // The header of a message between seats, and anything behind it.
      for (auto bytes = 1 + any(24); bytes > 0; --bytes)
        body.push_back(static_cast<char>(any(any(4) == 0 ? 256 : 5)));
    } else {
      encode(out, names[which], message);
    }
    if (any(20) == 0) body.resize(any(body.size() + 1));
    if (hear(kind, instance, body)) ++understood;
    auto*& one = asking[which];
    if (one != nullptr && one->state == State::granted) {
      ++granted;
      EXPECT_EQ(table_->release(names[which], owner_, one->fence), one->resources.size());
      one = nullptr;
    } else if (one == nullptr || one->state != State::waiting) {
      one = &asker({{std::string(1, static_cast<char>('a' + any(3))), 1 + small(2), small(4)}});
      table_->acquire(names[which], *one);
    } else if (any(10) == 0 && table_->withdraw(names[which], *one)) {
      one = nullptr;
    }
    if (any(100) == 0) table_->retire_idle(Clock::now() + 1h, 3);
    if (any(400) == 0) {
      enter(view_.epoch + 1);
      if (any(4) != 0) hear(NoteKind::reported, 0, "");
    }
  }
  EXPECT_GT(granted, 0U);
  EXPECT_GT(understood, 500U);
}

TEST_F(StoreTableTest, RandomFramesOfStoresBreakNothing) {
  hear_anything<protocols::CentralAllocator>(1);
  hear_anything<protocols::Brokered>(2);
  hear_anything<protocols::Grid>(3);
}

}  // namespace
}  // namespace turno::table

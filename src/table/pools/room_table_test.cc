// The table of rooms, with a peer that the test plays: the other member of a view of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "cluster/rendezvous.h"
#include "cluster/seated.h"
#include "net/loop.h"
#include "protocols/group/quorum_group.h"
#include "table/pools/pool_table.h"
#include "wire/codec.h"

namespace turno::table {
namespace {

using namespace std::chrono_literals;
using State = Waiter::State;
using RoomMessage = cluster::Seated<protocols::QuorumGroup>::Message;
using ::testing::ElementsAre;

class RoomAsker final : public PermitWaiter {
 public:
  RoomAsker(const Owner& who, std::string its_group, std::uint32_t capacity) : PermitWaiter(who) {
    group = std::move(its_group);
    permits = capacity;
  }
  void settled(Afterwards&) override {}
};

class RoomTableTest : public testing::Test {
 protected:
  RoomTableTest()
      : room_link_(std::make_shared<net::Link>(
            loop_, net::Identity{1, 1}, net::Peer{2, "b", "127.0.0.1:1"},
            net::Link::Handlers{[](const std::string&) {}, [](std::uint32_t) {}})),
        table_(
            make_room_engine(), {},
            [this](const Owner&, Thing, const std::string& name, Fence, std::string_view) {
              lost_.push_back(name);
            },
            {}, Thing::room) {
    view_.members = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};  // the same in every run
    enter(1);
  }
  void enter(std::uint32_t epoch) {
    view_.epoch = epoch;
    table_.adopt(view_, NodeId{0}, {nullptr, room_link_}, {});
  }
  [[nodiscard]] std::string name_at(NodeId home) const {
    for (int n = 0;; ++n)
      if (auto name = "room " + std::to_string(n); cluster::home_of(name, view_) == home)
        return name;
  }
  bool hear(NoteKind kind, std::uint64_t instance, const std::string& body) {
    return table_.receive(NodeId{1}, {view_.epoch, instance, frame_kind(Thing::room, kind), body});
  }
  RoomAsker& asker(const std::string& group, std::uint32_t capacity = 0) {
    return askers_.emplace_back(owner_, group, capacity);
  }

  const Owner owner_{1, "one"};
  net::Loop loop_;  // nobody runs it: what is sent stays in the link
  std::shared_ptr<net::Link> room_link_;
  std::deque<RoomAsker> askers_;
  std::vector<std::string> lost_;
  PoolTable table_;
  cluster::View view_;
};

// The manager of a room's first group is at its home: nobody else need be asked.
TEST_F(RoomTableTest, UsersOfOneGroupHaveOneFence) {
  const auto name = name_at(NodeId{0});
  hear(NoteKind::reported, 0, "");
  auto& one = asker("red");
  EXPECT_TRUE(table_.acquire(name, one));
  auto& two = asker("red");
  EXPECT_TRUE(table_.acquire(name, two));
  EXPECT_EQ(one.fence, two.fence);
  EXPECT_TRUE(table_.holds(name, owner_, one.fence));
  EXPECT_EQ(table_.release(name, owner_, one.fence), 1U);
  EXPECT_TRUE(table_.holds(name, owner_, one.fence)) << "once more";
  EXPECT_TRUE(table_.take_back(name, one.fence, "because", &owner_));
  EXPECT_THAT(lost_, ElementsAre(name));
  EXPECT_EQ(table_.release(name, owner_, one.fence), 0U);
}

// Also in the next view, and for those who come later.
TEST_F(RoomTableTest, AVisitGoesThroughViewsWithItsFence) {
  const auto name = name_at(NodeId{0});
  hear(NoteKind::reported, 0, "");
  auto& one = asker("red");
  ASSERT_TRUE(table_.acquire(name, one));
  enter(2);
  auto& two = asker("red");
  EXPECT_FALSE(table_.acquire(name, two));
  hear(NoteKind::reported, 0, "");
  EXPECT_EQ(two.state, State::granted);
  EXPECT_EQ(two.fence, one.fence);
}

TEST_F(RoomTableTest, WhoContradictsIsRefused) {
  const auto name = name_at(NodeId{0});
  hear(NoteKind::reported, 0, "");
  ASSERT_TRUE(table_.acquire(name, asker("red", 2)));
  auto& other = asker("red", 3);
  EXPECT_FALSE(table_.acquire(name, other));
  EXPECT_EQ(other.state, State::refused);
  EXPECT_EQ(other.reason, cluster::Refusal::Reason::contradicts);
  EXPECT_EQ(other.known_permits, 2U);
}

// A member that has lost its mind, also about the messages of the algorithm.
TEST_F(RoomTableTest, RandomFramesOfRoomsBreakNothing) {
  std::mt19937_64 random(11);
  const auto any = [&](std::uint64_t below) { return random() % below; };
  const std::vector<std::string> names = {name_at(NodeId{0}), name_at(NodeId{1}), "x"};
  std::vector<RoomAsker*> asking(names.size());
  hear(NoteKind::reported, 0, "");
  std::uint64_t granted = 0, understood = 0;
  for (int i = 0; i < 12'000; ++i) {
    const auto which = any(names.size());
    const auto kind = static_cast<NoteKind>(any(cluster::Note::kinds.size()));
    const auto instance = global_instance(NodeId{any(2)}, 1 + any(6));
    std::string body;
    wire::Writer out(body);
    cluster::DeskMessage<RoomMessage> message{{.kind = kind}};
    for (auto more = any(3); more > 0; --more)
      message.holdings.push_back(
          {.seat = NodeId{any(3)}, .group = static_cast<std::uint32_t>(any(3))});
    message.count = any(50) == 0 ? random() >> any(64) : any(100);
    for (auto groups = any(4); groups > 0; --groups)
      message.terms.groups.push_back(
          {any(6) == 0 ? "" : std::string(1, static_cast<char>('a' + any(3))),
           static_cast<std::uint32_t>(any(3))});
    message.terms.seats = static_cast<std::uint32_t>(any(6));
    message.terms.kept = any(4) == 0;
    message.terms.fence = Fence{any(3) == 0 ? random() : 0};
    auto& inner = message.inner;
    inner.kind = static_cast<protocols::QuorumGroup::Kind>(any(RoomMessage::kinds.size()));
    inner.session = static_cast<std::uint32_t>(any(4));
    inner.time = any(6);
    inner.clock = any(9);
    inner.fence = any(9);
    inner.more = any(2) == 0;
    inner.from_seat = static_cast<std::uint32_t>(any(8));
    inner.to_seat = static_cast<std::uint32_t>(any(8));
    encode(out, names[which], message);
    if (any(20) == 0) body.resize(any(body.size() + 1));
    if (hear(kind, instance, body)) ++understood;
    auto*& one = asking[which];
    if (one != nullptr && one->state == State::granted) {
      ++granted;
      EXPECT_EQ(table_.release(names[which], owner_, one->fence), 1U);
      one = nullptr;
    } else if (one == nullptr || one->state != State::waiting) {
      one = &asker(std::string(1, static_cast<char>('a' + any(3))),
                   static_cast<std::uint32_t>(any(3)));
      table_.acquire(names[which], *one);
    } else if (any(10) == 0 && table_.withdraw(names[which], *one)) {
      one = nullptr;
    }
    if (any(100) == 0) table_.retire_idle(Clock::now() + 1h, 3);
    if (any(400) == 0) {
      enter(view_.epoch + 1);
      if (any(4) != 0) hear(NoteKind::reported, 0, "");
    }
  }
  EXPECT_GT(granted, 0U);
  EXPECT_GT(understood, 1000U);
}

}  // namespace
}  // namespace turno::table

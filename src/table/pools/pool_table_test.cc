// The table of semaphores, with a peer that the test plays: the other member of a view of two.
#include "table/pools/pool_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "cluster/rendezvous.h"
#include "net/loop.h"
#include "protocols/kmutex/k_out_of_m.h"
#include "wire/codec.h"

namespace turno::table {
namespace {

using namespace std::chrono_literals;
using protocols::KOutOfM;
using State = Waiter::State;
using ::testing::ElementsAre;

constexpr NodeId here{0}, there{1};

class PermitAsker final : public PermitWaiter {
 public:
  PermitAsker(const Owner& who, std::uint32_t wanted, std::uint32_t of) : PermitWaiter(who) {
    count = wanted;
    permits = of;
  }
  void settled(Afterwards&) override { ++times_settled; }
  int times_settled = 0;
};

class PoolTableTest : public testing::Test {
 protected:
  PoolTableTest()
      : link_(std::make_shared<net::Link>(
            loop_, net::Identity{1, 1}, net::Peer{2, "b", "127.0.0.1:1"},
            net::Link::Handlers{[](const std::string&) {}, [](std::uint32_t) {}})),
        table_(make_pool_engine(), {},
               [this](const Owner&, Thing, const std::string& name, Fence, std::string_view) {
                 lost_.push_back(name);
               }) {
    view_.members = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};  // the same in every run
    enter(1);
  }

  void enter(std::uint32_t epoch) {
    view_.epoch = epoch;
    table_.adopt(view_, here, {nullptr, link_}, {});
  }
  [[nodiscard]] std::string name_at(NodeId home) const {
    for (int n = 0;; ++n)
      if (auto name = "pool " + std::to_string(n); cluster::home_of(name, view_) == home)
        return name;
  }
  bool hear(NoteKind kind, std::uint64_t instance, const std::string& body) {
    return table_.receive(there, {view_.epoch, instance, frame_kind(Thing::semaphore, kind), body});
  }
  // An answer of the other member to whatever this one has asked.
  static std::string reply_to(std::uint64_t time) {
    std::string body;
    wire::Writer out(body);
    wire::encode(out, KOutOfM::Message{.kind = KOutOfM::Kind::reply, .time = time});
    return body;
  }
  PermitAsker& asker(std::uint32_t count, std::uint32_t of) {
    return askers_.emplace_back(owner_, count, of);
  }

  const Owner owner_{1, "one"};
  net::Loop loop_;  // nobody runs it: what is sent stays in the link
  std::shared_ptr<net::Link> link_;
  std::deque<PermitAsker> askers_;
  std::vector<std::string> lost_;
  PoolTable table_;
  cluster::View view_;
};

TEST_F(PoolTableTest, GrantsWhenEverybodyHasAnswered) {
  const auto name = name_at(here);
  auto& one = asker(2, 3);
  EXPECT_FALSE(table_.acquire(name, one));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  EXPECT_EQ(one.state, State::waiting);
  EXPECT_TRUE(hear(NoteKind::protocol, global_instance(here, 1), reply_to(1)));
  EXPECT_EQ(one.state, State::granted);
  EXPECT_EQ(one.times_settled, 1);
  EXPECT_THAT(one.units, ElementsAre(0, 1));
  EXPECT_TRUE(table_.holds(name, owner_, one.fence));
  EXPECT_EQ(table_.release(name, owner_, one.fence), 2U);
  EXPECT_EQ(table_.release(name, owner_, one.fence), 0U);
}

TEST_F(PoolTableTest, TellsWhoseTimeIsOver) {
  const auto name = name_at(here);
  auto& one = asker(1, 1);
  table_.acquire(name, one);
  hear(NoteKind::reported, 0, "");
  hear(NoteKind::protocol, global_instance(here, 1), reply_to(1));
  ASSERT_EQ(one.state, State::granted);
  EXPECT_FALSE(table_.take_back(name, Fence{one.fence.value + 1}, "because"));
  EXPECT_TRUE(table_.take_back(name, one.fence, "because"));
  EXPECT_THAT(lost_, ElementsAre(name));
  EXPECT_FALSE(table_.holds(name, owner_, one.fence));
}

// What was held stays held in the next view, with the number and the fence that it had.
TEST_F(PoolTableTest, KeepsWhatIsHeldThroughViews) {
  const auto name = name_at(here);
  auto& one = asker(1, 2);
  table_.acquire(name, one);
  hear(NoteKind::reported, 0, "");
  hear(NoteKind::protocol, global_instance(here, 1), reply_to(1));
  ASSERT_EQ(one.state, State::granted);
  enter(2);
  hear(NoteKind::reported, 0, "");
  auto& two = asker(1, 0);
  EXPECT_FALSE(table_.acquire(name, two));
  hear(NoteKind::protocol, global_instance(here, 1), reply_to(1));
  ASSERT_EQ(two.state, State::granted);
  EXPECT_THAT(two.units, ElementsAre(1));
  EXPECT_GT(two.fence, one.fence);
  EXPECT_EQ(table_.release(name, owner_, one.fence), 1U);
}

// What everybody knows of many permits is more than a frame takes; the permits that are held are
// not.
TEST(LongReports, FitIntoAFrame) {
  cluster::DeskMessage<KOutOfM::Message> report{{.kind = NoteKind::report}};
  report.permits = report.numbers = cluster::most_permits;
  auto& holding = report.holdings.emplace_back(NodeId{0});
  for (std::uint32_t unit = 0; unit < cluster::most_permits; ++unit) holding.units.push_back(unit);
  LastSeen gone{.time = 1};
  gone.held.assign(cluster::most_permits, cluster::most_permits);
  report.evidence.push_back({.instance = 1, .witnesses = 2, .gone = AllLastSeen(8, gone)});
  std::string bytes;
  wire::Writer out(bytes);
  encode(out, "gpu", report);
  EXPECT_LT(bytes.size(), wire::max_frame);
  wire::Reader in(bytes);
  EXPECT_EQ(in.bytes(), "gpu");
  cluster::DeskMessage<KOutOfM::Message> read{{.kind = NoteKind::report}};
  ASSERT_TRUE(decode(in, read, {.nodes = 9, .units = cluster::most_permits}));
  EXPECT_EQ(read.holdings, report.holdings);
  EXPECT_THAT(read.evidence, testing::IsEmpty()) << "the home keeps everything then";
}

TEST_F(PoolTableTest, EndsWithItsUsersTold) {
  const auto name = name_at(here);
  auto& one = asker(1, 1);
  auto& two = asker(1, 1);
  table_.acquire(name, one);
  hear(NoteKind::reported, 0, "");
  hear(NoteKind::protocol, global_instance(here, 1), reply_to(1));
  ASSERT_EQ(one.state, State::granted);
  table_.acquire(name, two);
  table_.end("the node ends");
  EXPECT_EQ(two.state, State::failed);
  EXPECT_THAT(lost_, ElementsAre(name));
  auto& three = asker(1, 1);
  EXPECT_FALSE(table_.acquire(name, three));
  EXPECT_EQ(three.state, State::failed);
}

// A member that has lost its mind, also about the messages of the algorithm.
TEST_F(PoolTableTest, RandomFramesBreakNothing) {
  std::mt19937_64 random(7);
  const auto any = [&](std::uint64_t below) { return random() % below; };
  const std::vector<std::string> names = {name_at(here), name_at(there), "x"};
  std::vector<PermitAsker*> asking(names.size());
  hear(NoteKind::reported, 0, "");
  std::uint64_t granted = 0;
  for (int i = 0; i < 8000; ++i) {
    const auto which = any(names.size());
    const auto& name = names[which];
    const auto kind = static_cast<NoteKind>(any(cluster::Note::kinds.size()));
    const auto instance = global_instance(any(2) == 0 ? here : there, 1 + any(4));
    std::string body;
    wire::Writer out(body);
    cluster::DeskMessage<KOutOfM::Message> message{{.kind = kind}};
    if (any(2) == 0) {
      Holding holding{.seat = NodeId{any(3)}};
      for (auto unit = any(4); unit > 0; --unit)
        holding.units.push_back(static_cast<std::uint32_t>(any(5)));
      message.holdings.push_back(holding);
    }
    message.count = any(50) == 0 ? random() >> any(64) : any(100);
    message.permits = static_cast<std::uint32_t>(any(4));
    auto& inner = message.inner;
    inner.kind = static_cast<KOutOfM::Kind>(any(KOutOfM::Message::kinds.size()));
    inner.count = static_cast<std::uint32_t>(any(4));
    inner.time = any(12);
    inner.only_try = any(2) == 0;
    for (auto facts = any(3); facts > 0; --facts)
      inner.facts.set({.unit = static_cast<std::uint32_t>(any(4)), .grant = any(20)});
    encode(out, name, message);
    if (any(20) == 0) body.resize(any(body.size() + 1));
    hear(kind, instance, body);
    // Now and then it answers as it should, whatever it was that was asked.
    if (any(8) == 0)
      for (std::uint64_t born = 1; born < 60; ++born)
        hear(NoteKind::protocol, global_instance(here, born), reply_to(1 + any(3)));
    auto*& one = asking[which];
    if (one != nullptr && one->state == State::granted) {
      ++granted;
      EXPECT_EQ(table_.release(name, owner_, one->fence), one->count);
      one = nullptr;
    } else if (one == nullptr || one->state != State::waiting) {
      one = &asker(static_cast<std::uint32_t>(1 + any(3)), 3);
      any(3) == 0 ? table_.attempt(name, *one) : table_.acquire(name, *one);
    } else if (any(10) == 0 && table_.withdraw(name, *one)) {
      one = nullptr;
    }
    if (any(100) == 0) table_.retire_idle(Clock::now() + 1h, 3);
    if (any(400) == 0) {
      enter(view_.epoch + 1);
      if (any(4) != 0) hear(NoteKind::reported, 0, "");
    }
  }
  EXPECT_GT(granted, 0U);
}

}  // namespace
}  // namespace turno::table

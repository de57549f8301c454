#include "protocols/group/quorum_group.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "protocols/group/readers_writers.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = QuorumGroup::Kind;
using Message = QuorumGroup::Message;
using Phase = QuorumGroup::Phase;

// The managers, one quorum each, and then so many processes.
Setup rooms(const std::vector<std::string>& quorums, std::size_t processes,
            Door door = Door::demand) {
  auto setup = voting(quorums);
  setup.room.groups = static_cast<std::uint32_t>(quorums.size());
  setup.configure<QuorumGroup::Config>().door = door;
  setup.father.resize(quorums.size() + processes, n0);
  return setup;
}
const std::vector<std::string> two = {"01", "01"};
const std::vector<std::string> fano = {"013", "124", "235", "346", "450", "561", "602"};

class Rooms : public Cluster<QuorumGroup> {
 public:
  explicit Rooms(const Setup& setup) : Cluster<QuorumGroup>(setup) {}
  // All that was sent, and how many of it between managers.
  void count(const TraceStep& step) {
    for (const auto& sent : step.sends) {
      ++messages;
      const auto text = sent.text.substr(0, sent.text.find('('));
      if (text != "join" && text != "enter" && text != "done") ++between_groups;
    }
  }
  void all() {
    for (const auto& step : drain()) count(step);
  }
  void wants(NodeId process, std::uint32_t group) { count(want(process, {.group = group})); }
  void leaves(NodeId process) { count(leave(process)); }

  std::size_t messages = 0, between_groups = 0;
};

TEST(QuorumGroup, ALoneSessionCostsThreeForEachProcessAndEachOtherVote) {
  for (auto door : {Door::demand, Door::leader, Door::closed}) {
    for (std::size_t visitors = 1; visitors <= 3; ++visitors) {
      Rooms world(rooms(fano, 3, door));
      for (std::size_t i = 0; i < visitors; ++i) world.wants(NodeId{7 + i}, 0);
      world.all();
      for (std::size_t i = 0; i < visitors; ++i) EXPECT_TRUE(world.inside(7 + i));
      for (std::size_t i = 0; i < visitors; ++i) world.leaves(NodeId{7 + i});
      world.all();
      const std::size_t k = 3;
      EXPECT_EQ(world.messages, 3 * visitors + 3 * (k - 1));
      EXPECT_EQ(world.broken(), "");
    }
  }
}

// Group 6 has two votes of three and must give both back to older requests: six messages for each
// vote of another. (The paper says five.)
TEST(QuorumGroup, TakingAllLocksBackCostsSixForEachOtherVote) {
  Rooms world(rooms(fano, 4, Door::leader));
  const NodeId of_6{7}, of_3{8}, of_4{9}, of_1{10};
  world.want(of_3, {.group = 3}), world.want(of_4, {.group = 4}), world.want(of_1, {.group = 1});
  world.deliver(of_3, NodeId{3}), world.deliver(of_4, NodeId{4}), world.deliver(of_1, NodeId{1});
  world.deliver(NodeId{3}, NodeId{6}, "request");  // so that 6 lacks its own vote
  world.want(of_6, {.group = 6});
  std::vector<TraceStep> steps = {world.deliver(of_6, NodeId{6}, "join")};
  for (const NodeId arbiter : {NodeId{0}, NodeId{2}}) {
    steps.push_back(world.deliver(NodeId{6}, arbiter, "request"));
    steps.push_back(world.deliver(arbiter, NodeId{6}, "grant"));
  }
  steps.push_back(world.deliver(NodeId{4}, n0, "request"));
  steps.push_back(world.deliver(NodeId{1}, n2, "request"));
  for (std::size_t i = 0; i < 4; ++i) {
    for (auto& step : world.drain()) steps.push_back(step);
    for (std::size_t p = 7; p < world.size(); ++p)
      if (world.inside(p)) world.leave(NodeId{p});
  }
  for (auto& step : world.drain()) steps.push_back(step);

  const std::string time = "time 2";  // of the request of 6: it had seen that of 3
  std::map<std::string, int> kinds;
  for (const auto& step : steps)
    for (const auto& sent : step.sends)
      if ((sent.from == NodeId{6} || sent.to == NodeId{6}) &&
          sent.text.find(time) != std::string::npos)
        ++kinds[sent.text.substr(0, sent.text.find('('))];
  EXPECT_EQ(kinds, (std::map<std::string, int>{
                       {"request", 2}, {"grant", 4}, {"recall", 2}, {"yield", 2}, {"release", 2}}));
  for (std::size_t p = 7; p < world.size(); ++p) EXPECT_FALSE(world.waiting(p));
  EXPECT_EQ(world.broken(), "");
}

TEST(QuorumGroup, LetsItsOwnInTogetherAndOthersOneAfterTheOther) {
  Rooms world(rooms(two, 3));
  const NodeId a{2}, b{3}, other{4};
  world.want(a, {.group = 0}), world.want(b, {.group = 0}), world.want(other, {.group = 1});
  world.drain();
  EXPECT_TRUE(world.inside(2) && world.inside(3) && world.waiting(4));
  world.leave(a);
  world.drain();
  EXPECT_TRUE(world.waiting(4)) << "one is still inside";
  world.leave(b);
  world.drain();
  EXPECT_TRUE(world.inside(4));
}

struct Late {
  Door door;
  bool rival, leader_stays, let_in;
};

// Who comes while its group is inside.
TEST(QuorumGroup, OpensItsDoorAsItWasTold) {
  for (const auto& [door, rival, leader_stays, let_in] :
       {Late{Door::leader, true, true, true}, Late{Door::leader, false, false, false},
        Late{Door::demand, true, true, true}, Late{Door::demand, true, false, false},
        Late{Door::demand, false, false, true}, Late{Door::closed, false, true, false}}) {
    Rooms world(rooms(two, 4, door));
    const NodeId leader{2}, second{3}, late{4}, of_rival{5};
    world.want(leader, {.group = 0}), world.want(second, {.group = 0});
    world.drain();
    if (rival) world.want(of_rival, {.group = 1});
    if (!leader_stays) world.leave(leader);
    world.drain();
    world.want(late, {.group = 0});
    world.drain();
    EXPECT_EQ(world.inside(4), let_in) << static_cast<int>(door) << rival << leader_stays;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t p = 2; p < 6; ++p)
        if (world.inside(p)) world.leave(NodeId{p});
      world.drain();
    }
    EXPECT_FALSE(world.waiting(4) || world.waiting(5)) << "all are served in the end";
  }
}

TEST(QuorumGroup, TellsARivalByOneMessageAGrant) {
  auto arbiter = make<QuorumGroup>(rooms({"03", "13", "23", "3"}, 0))[3];
  const auto ask = [](std::uint64_t time) { return Message{.kind = Kind::request, .time = time}; };
  EXPECT_EQ(receive(arbiter, n0, ask(1)),
            effects<QuorumGroup>({{n0, {.kind = Kind::grant, .time = 1, .clock = 1}}}));
  EXPECT_EQ(receive(arbiter, n2, ask(2)),
            effects<QuorumGroup>({{n0, {.kind = Kind::wanted, .time = 1}}}));
  EXPECT_EQ(receive(arbiter, n1, ask(2)), nothing<QuorumGroup>()) << "it knows";
  EXPECT_EQ(
      receive(arbiter, n0, {.kind = Kind::release, .time = 1, .fence = 4}),
      effects<QuorumGroup>({{n1, {.kind = Kind::grant, .time = 2, .clock = 4, .more = true}}}));
}

TEST(QuorumGroup, AdmitsNoMoreThanItsCapacity) {
  auto setup = rooms(two, 3);
  setup.room.capacity = {2, 1};
  Rooms world(setup);
  for (std::size_t p = 2; p < 5; ++p) world.want(NodeId{p}, {.group = 0});
  world.drain();
  EXPECT_TRUE(world.inside(2) && world.inside(3) && world.waiting(4));
  world.leave(n3);
  world.drain();
  EXPECT_TRUE(world.inside(2) && world.inside(4));
}

TEST(QuorumGroup, ForgetsAProcessThatGivesUp) {
  auto nodes = make<QuorumGroup>(rooms(two, 2));
  auto& manager = nodes[0];
  auto& process = nodes[2];
  const Message join{.kind = Kind::join, .session = 1}, done{.kind = Kind::done, .session = 1};
  EXPECT_EQ(request(process), effects<QuorumGroup>({{n0, join}}));
  Out<QuorumGroup> out;
  step(process, {.kind = EventKind::withdraw}, out);
  EXPECT_EQ(out, effects<QuorumGroup>({{n0, done}}));
  EXPECT_EQ(receive(process, n0, {.kind = Kind::enter, .session = 1, .fence = 2}),
            nothing<QuorumGroup>());

  receive(manager, n2, join);
  EXPECT_EQ(receive(manager, n2, done),
            effects<QuorumGroup>({{n1, {.kind = Kind::release, .time = 1}}}))
      << "nobody of the group wants in any more";
  EXPECT_EQ(manager.own, Candidacy{});
  EXPECT_EQ(receive(manager, n1, {.kind = Kind::grant, .time = 1, .clock = 1}),
            nothing<QuorumGroup>());
}

TEST(QuorumGroup, ForgetsAProcessThatGaveUpBeforeItsRequestCame) {
  auto manager = make<QuorumGroup>(rooms(two, 1))[0];
  EXPECT_EQ(receive(manager, n2, {.kind = Kind::done, .session = 1}), nothing<QuorumGroup>());
  EXPECT_EQ(receive(manager, n2, {.kind = Kind::join, .session = 1}), nothing<QuorumGroup>());
  EXPECT_NE(receive(manager, n2, {.kind = Kind::join, .session = 2}), nothing<QuorumGroup>());
}

TEST(QuorumGroup, ForgetsARequestThatWasWithdrawnBeforeItCame) {
  auto arbiter = make<QuorumGroup>(rooms(two, 0))[0];
  receive(arbiter, n1, {.kind = Kind::release, .time = 3});
  EXPECT_EQ(receive(arbiter, n1, {.kind = Kind::request, .time = 3}), nothing<QuorumGroup>());
  EXPECT_FALSE(arbiter.votes.waiting());
}

TEST(QuorumGroup, TakesEachMessageOnceIfTheyMayComeTwice) {
  auto setup = rooms(two, 1, Door::leader);
  setup.configure<QuorumGroup::Config>().duplicates = true;
  auto nodes = make<QuorumGroup>(setup);
  auto& manager = nodes[0];
  auto& arbiter = nodes[1];
  const Message join{.kind = Kind::join, .session = 1};
  const Message ask{.kind = Kind::request, .time = 1};
  const Message vote{.kind = Kind::grant, .time = 1, .clock = 1, .number = 1};
  EXPECT_EQ(receive(manager, n2, join), effects<QuorumGroup>({{n1, ask}}));
  EXPECT_EQ(receive(manager, n2, join), nothing<QuorumGroup>());
  EXPECT_EQ(receive(arbiter, n0, ask), effects<QuorumGroup>({{n0, vote}}));
  EXPECT_EQ(receive(arbiter, n0, ask), nothing<QuorumGroup>());
  receive(manager, n1, vote);
  const auto inside = manager;
  EXPECT_EQ(receive(manager, n1, vote), nothing<QuorumGroup>());
  EXPECT_EQ(manager, inside);
  receive(arbiter, n0, {.kind = Kind::release, .time = 1, .fence = 2});
  EXPECT_EQ(receive(arbiter, n0, ask), nothing<QuorumGroup>()) << "a copy that is very late";
}

TEST(QuorumGroup, GivesAVoteBackOnceIfMessagesMayComeTwice) {
  auto setup = rooms({"012", "012", "012"}, 1, Door::leader);
  setup.configure<QuorumGroup::Config>().duplicates = true;
  auto manager = make<QuorumGroup>(setup)[2];
  receive(manager, n3, {.kind = Kind::join, .session = 1});
  const Message vote{.kind = Kind::grant, .time = 1, .clock = 1, .number = 4};
  const Message recall{.kind = Kind::recall, .time = 1, .number = 4};
  receive(manager, n0, vote);
  EXPECT_EQ(receive(manager, n0, recall),
            effects<QuorumGroup>({{n0, {.kind = Kind::yield, .time = 1, .number = 4}}}));
  EXPECT_EQ(receive(manager, n0, recall), nothing<QuorumGroup>());
  EXPECT_EQ(receive(manager, n0, vote), nothing<QuorumGroup>());
  EXPECT_FALSE(manager.own.have.contains(n0));
}

TEST(QuorumGroup, FencesGrowFromSessionToSessionAndAreSharedWithinOne) {
  for (bool separate : {false, true}) {
    auto setup = rooms(two, 4);
    setup.configure<QuorumGroup::Config>().separate_fences = separate;
    Rooms world(setup);
    Fence last;
    for (std::uint32_t round = 0; round < 6; ++round) {
      std::vector<Fence> fences;
      for (std::size_t p : {2, 3}) world.want(NodeId{p}, {.group = round % 2});
      for (const auto& step : world.drain())
        if (step.entered) fences.push_back(step.fence);
      ASSERT_EQ(fences.size(), 2U);
      EXPECT_EQ(fences[0], fences[1]);
      EXPECT_GT(fences[0], last);
      last = fences[0];
      for (std::size_t p : {2, 3}) world.leave(NodeId{p});
      world.drain();
    }
  }
}

TEST(ReadersAndWriters, ReadersShareAndWritersDoNot) {
  auto setup = voting({"01", "12", "02"});
  setup.room = readers_and_writers(2);
  setup.father.resize(7, n0);
  Rooms world(setup);
  const NodeId reader{3}, another{4}, writer{5}, rival{6};
  world.want(reader, reading()), world.want(another, reading());
  world.drain();
  EXPECT_TRUE(world.inside(3) && world.inside(4));
  world.want(writer, writing(0)), world.want(rival, writing(1));
  world.drain();
  EXPECT_TRUE(world.waiting(5) && world.waiting(6));
  world.leave(reader), world.leave(another);
  world.drain();
  EXPECT_NE(world.inside(5), world.inside(6)) << "one of the writers";
  world.leave(world.inside(5) ? writer : rival);
  world.drain();
  EXPECT_NE(world.waiting(5) || world.waiting(6), true);
}

}  // namespace
}  // namespace turno::protocols

#include "protocols/election/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Ring::Kind;
using Event = Input<Ring::Message>::Kind;
using Phase = Ring::Phase;

Ring::Message round(std::initializer_list<NodeId> visited, std::uint32_t epoch,
                    NodeId coordinator = nobody) {
  Ring::Message message{.kind = coordinator == nobody ? Kind::election : Kind::coordinator,
                        .epoch = epoch,
                        .coordinator = coordinator};
  for (auto node : visited) message.visited.insert(node);
  return message;
}

class FourOnARing : public ::testing::Test {
 protected:
  Out<Ring> expire(std::size_t node, Ring::Timer timer) {
    return stepped(nodes[node], {.kind = Event::expire, .number = timer});
  }
  Out<Ring> bounce(std::size_t node, NodeId to, const Ring::Message& message) {
    return stepped(nodes[node], {.kind = Event::bounce, .from = to, .message = message});
  }
  static std::string sent(const Out<Ring>& out) {
    std::string text;
    for (const auto& [to, message] : out.sends())
      text += "to " + describe(to) + ": " + describe_message(message) + "; ";
    return text;
  }

  std::vector<Ring> nodes = make<Ring>(shaped(Topology::complete, 4));
};

TEST_F(FourOnARing, BeginARoundWhenTheCoordinatorIsGone) {
  EXPECT_EQ(sent(expire(0, Ring::service_timer)), "to 1: election(epoch 1, visited {0}); ");
  EXPECT_EQ(nodes[0].phase, Phase::electing);
}

TEST_F(FourOnARing, AddThemselvesToARound) {
  EXPECT_EQ(sent(receive(nodes[1], n0, round({n0}, 1))),
            "to 2: election(epoch 1, visited {0 1}); ");
  EXPECT_EQ(nodes[1].epoch, 1U);
  EXPECT_EQ(nodes[1].phase, Phase::normal);
}

TEST_F(FourOnARing, RaiseTheEpochOfARoundToTheirOwn) {
  nodes[1].epoch = 5;
  EXPECT_EQ(sent(receive(nodes[1], n0, round({n0}, 1))),
            "to 2: election(epoch 5, visited {0 1}); ");
}

TEST_F(FourOnARing, TryTheNextOneWhenTheirSuccessorIsDead) {
  EXPECT_EQ(sent(bounce(2, n3, round({n0, n1, n2}, 1))),
            "to 0: election(epoch 1, visited {0 1 2}); ");
}

TEST_F(FourOnARing, CloseARoundThatTheyWereInAlready) {
  expire(0, Ring::service_timer);
  EXPECT_EQ(sent(receive(nodes[0], n2, round({n0, n1, n2}, 1))),
            "to 1: coordinator(epoch 1, coordinator 2, visited {0}); ");
  EXPECT_EQ(nodes[0].coordinator, n2);
  EXPECT_EQ(nodes[0].phase, Phase::telling);
  EXPECT_EQ(sent(receive(nodes[0], n2, round({n0, n1, n2}, 1, n2))), "") << "everybody knows";
  EXPECT_EQ(nodes[0].phase, Phase::normal);
}

TEST_F(FourOnARing, CloseARoundOfSomebodyElseThatCrashed) {
  receive(nodes[1], n0, round({n0}, 1));
  EXPECT_EQ(sent(receive(nodes[1], n2, round({n0, n1, n2}, 1))),
            "to 2: coordinator(epoch 1, coordinator 2, visited {1}); ");
}

TEST_F(FourOnARing, ElectThemselvesWhenNobodyElseLives) {
  auto out = expire(0, Ring::service_timer);
  for (auto dead : {n1, n2}) {
    const auto message = out.sends().front().message;
    out = bounce(0, dead, message);
  }
  EXPECT_EQ(sent(out), "to 3: election(epoch 1, visited {0}); ");
  out = bounce(0, n3, out.sends().front().message);
  EXPECT_TRUE(nodes[0].acting());
  EXPECT_EQ(sent(out), "to 1: coordinator(epoch 1, coordinator 0, visited {0}); ");
}

TEST_F(FourOnARing, TakeNoResultThatIsOlderThanWhatTheyKnow) {
  receive(nodes[0], n3, round({n3}, 2, n3));
  EXPECT_EQ(nodes[0].since, 2U);
  EXPECT_EQ(sent(receive(nodes[0], n3, round({n1, n2, n3}, 1, n2))), "");
  EXPECT_EQ(nodes[0].coordinator, n3);
}

TEST_F(FourOnARing, DoNotBowToALowerOne) {
  nodes[3].crash();
  EXPECT_EQ(sent(receive(nodes[3], n2, round({n0, n1, n2}, 1, n2))),
            "to 0: election(epoch 2, visited {3}); ");
}

TEST_F(FourOnARing, BeginAgainWhenARoundIsLost) {
  expire(0, Ring::service_timer);
  EXPECT_EQ(sent(expire(0, Ring::round_timer)), "to 1: election(epoch 2, visited {0}); ");
}

TEST_F(FourOnARing, WaitForTheirOwnElectionOnceTheyHaveBegunOne) {
  expire(0, Ring::service_timer);
  expire(0, Ring::round_timer);
  receive(nodes[0], n3, round({n2, n3}, 1, n3));
  EXPECT_EQ(nodes[0].coordinator, nobody) << "that is the result of an older one";
}

}  // namespace
}  // namespace turno::protocols

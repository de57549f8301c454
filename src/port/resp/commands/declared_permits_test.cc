// Semaphores that the nodes' configuration declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The first two nodes declare the same, the third something else of "gpu".
class DeclaredPermits : public testing::Test {
 protected:
  [[nodiscard]] Caller caller(std::size_t node) {
    return Caller(cluster_[node].self().client_address);
  }
  node::TestCluster cluster_{
      3, [](node::Settings& settings) {
        const auto permits = settings.name == "n3" ? 8U : 2U;
        auto& declared = settings.declarations;
        declared.declare_semaphore("gpu", {permits, "semaphores.gpu, a:1:1"});
        declared.declare_semaphore("build-*", {1, "semaphores.build-*, a:2:1"});
      }};
};

TEST_F(DeclaredPermits, NobodyHasToSayHowManyThereAre) {
  auto one = caller(0), two = caller(1);
  EXPECT_THAT(one.ask("PERMIT gpu COUNT 2"), StartsWith("[[0, "));
  EXPECT_EQ(two.ask("PERMIT gpu TIMEOUT 0"), "null");
  EXPECT_THAT(two.ask("PERMIT build-7"), StartsWith("[[0, ")) << "by the beginning of its name";
  EXPECT_EQ(one.ask("PERMIT build-7 TIMEOUT 0"), "null");
  EXPECT_THAT(one.ask("PERMIT build-8 OF 1"), StartsWith("[[0, "));
  EXPECT_THAT(one.ask("PERMIT other"), HasSubstr("nobody uses semaphore 'other'"));
  EXPECT_THAT(one.ask("PERMIT other OF 3"), StartsWith("[[0, "));
}

TEST_F(DeclaredPermits, WhoContradictsIsRefusedAndToldBoth) {
  auto one = caller(0);
  EXPECT_EQ(one.ask("PERMIT gpu OF 3"),
            "-ERR semaphore 'gpu' is declared to have 2 permits (semaphores.gpu, a:1:1), not 3");
  EXPECT_EQ(one.ask("PERMIT build-1 COUNT 2"),
            "-ERR semaphore 'build-1' is declared to have 1 permit (semaphores.build-*, a:2:1), "
            "not 2");
}

// Whose node declares something else than what holds now is refused, and no number is mixed.
TEST_F(DeclaredPermits, OfNodesThatDisagreeTheFirstUsersCounts) {
  auto one = caller(0), three = caller(2);
  EXPECT_THAT(one.ask("PERMIT gpu"), StartsWith("[[0, "));
  EXPECT_EQ(three.ask("PERMIT gpu"),
            "-ERR semaphore 'gpu' has 2 permits as long as it is in use, not 8, as this node "
            "declares (semaphores.gpu, a:1:1)");
  EXPECT_THAT(one.ask("PERMIT gpu"), StartsWith("[[1, ")) << "it goes on as it was";
}

// What is declared is the number to begin with.
TEST_F(DeclaredPermits, CanBeResizedWhileTheyAreInUse) {
  auto one = caller(0), two = caller(1), three = caller(2);
  EXPECT_THAT(one.ask("PERMIT gpu"), StartsWith("[[0, "));
  EXPECT_EQ(two.ask("RESIZE gpu 5"), "OK");
  EXPECT_THAT(one.ask("PERMIT gpu COUNT 3"), StartsWith("[[1, "));
  EXPECT_THAT(three.ask("PERMIT gpu"), StartsWith("[[4, ")) << "its node declares 8";
  EXPECT_THAT(two.ask("PERMIT gpu OF 3"), HasSubstr("is declared to have 2 permits"));
}

}  // namespace
}  // namespace turno::port

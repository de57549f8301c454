#include "port/declarations.h"

#include <gtest/gtest.h>

#include <string>

namespace turno::port {
namespace {

std::uint32_t permits_of(const Declarations& declarations, std::string_view name) {
  const auto* found = declarations.semaphore(name);
  return found == nullptr ? 0 : found->permits;
}

TEST(Declarations, OfANameGoBeforeThoseOfABeginningAndLongerOnesBeforeShorterOnes) {
  Declarations declarations;
  EXPECT_EQ(declarations.semaphore("gpu"), nullptr);
  declarations.declare_semaphore("gpu", {.permits = 1});
  declarations.declare_semaphore("gpu-*", {.permits = 2});
  declarations.declare_semaphore("gpu-big*", {.permits = 3});
  EXPECT_EQ(permits_of(declarations, "gpu"), 1U);
  EXPECT_EQ(permits_of(declarations, "gpu-"), 2U);
  EXPECT_EQ(permits_of(declarations, "gpu-small"), 2U);
  EXPECT_EQ(permits_of(declarations, "gpu-big"), 3U);
  EXPECT_EQ(permits_of(declarations, "gpu-bigger"), 3U);
  EXPECT_EQ(permits_of(declarations, "gp"), 0U);
  declarations.declare_semaphore("*", {.permits = 9});
  EXPECT_EQ(permits_of(declarations, "gp"), 9U);
}

TEST(Declarations, SayWhatIsDoneAboutDeadlocks) {
  using table::Thing;
  Declarations declarations;
  EXPECT_EQ(declarations.deadlock_rule(Thing::lock, "a").policy, DeadlockPolicy::detect);
  EXPECT_FALSE(declarations.refuses_requests());
  declarations.declare_deadlocks(DeadlockPolicy::abort);
  EXPECT_FALSE(declarations.refuses_requests());
  declarations.declare_deadlocks(Thing::lock, "db-*",
                                 {.policy = DeadlockPolicy::ordered, .rank = 3});
  EXPECT_TRUE(declarations.refuses_requests());
  EXPECT_EQ(declarations.deadlock_rule(Thing::lock, "a").policy, DeadlockPolicy::abort);
  EXPECT_EQ(declarations.deadlock_rule(Thing::semaphore, "db-1").policy, DeadlockPolicy::abort);
  EXPECT_EQ(declarations.deadlock_rule(Thing::lock, "db-1"),
            (DeadlockRule{.policy = DeadlockPolicy::ordered, .rank = 3}));
  EXPECT_EQ(policy_named("collective"), DeadlockPolicy::collective);
  EXPECT_EQ(policy_named("pray"), std::nullopt);
}

TEST(Declarations, HaveNamesThatThingsCanHave) {
  for (const auto* fine : {"gpu", "*", "build-*", "a b"})
    EXPECT_EQ(Declarations::wrong_with(fine), "") << fine;
  for (const auto& wrong :
       {std::string(), std::string("a*b"), std::string("**"), std::string(513, 'a')})
    EXPECT_NE(Declarations::wrong_with(wrong), "") << wrong;
}

}  // namespace
}  // namespace turno::port

// Only the process that holds a member's lock file is that member.
#include "cli/cluster/member_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "registry/embedded/embedded_registry.h"
#include "registry/registry_testing.h"

namespace turno::cli {
namespace {

using namespace std::chrono_literals;

TEST(MemberProcess, IsNotWhoeverHasItsNumber) {
  const registry::TemporaryDirectory folder;
  const auto other = ::fork();
  if (other == 0) {
    ::pause();
    ::_exit(0);
  }
  registry::EmbeddedRegistry registry(folder.path());
  const auto view = registry.join(registry::member_named("here"), registry::running("nxr"));
  ASSERT_TRUE(view);
  auto member = view->members.front();
  const auto found = MemberProcess::find(folder.path(), member);
  ASSERT_TRUE(found) << found.error();
  EXPECT_FALSE(found->ends_within(0ms));

  member.pid = other;
  EXPECT_THAT(MemberProcess::find(folder.path(), member).error(),
              ::testing::HasSubstr("does not hold"));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_EQ(MemberProcess::find(folder.path(), member).error(), "No such process");
}

TEST(MemberProcess, CanBeEnded) {
  const registry::TemporaryDirectory folder;
  const auto child = ::fork();
  if (child == 0) {
    registry::EmbeddedRegistry registry(folder.path());
    const auto view = registry.join(registry::member_named("there"), registry::running("nxr"));
    for (;;) ::pause();
  }
  registry::EmbeddedRegistry registry(folder.path());
  auto view = registry.current();
  for (int i = 0; i < 500 && (!view || view->members.empty()); ++i) {
    ::usleep(10'000);
    view = registry.current();
  }
  ASSERT_TRUE(view && !view->members.empty());
  const auto found = MemberProcess::find(folder.path(), view->members.front());
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->send(SIGTERM), "");
  EXPECT_TRUE(found->ends_within(5s));
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(found->send(SIGTERM), "");
}

}  // namespace
}  // namespace turno::cli

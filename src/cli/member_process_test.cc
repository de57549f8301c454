// Only the process that holds a member's lock file is that member.
#include "cli/member_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "cluster/embedded_registry.h"
#include "cluster/registry_testing.h"

namespace turno::cli {
namespace {

using namespace std::chrono_literals;

TEST(MemberProcess, IsNotWhoeverHasItsNumber) {
  const cluster::TemporaryDirectory folder;
  const auto other = ::fork();
  if (other == 0) {
    ::pause();
    ::_exit(0);
  }
  cluster::EmbeddedRegistry registry(folder.path());
  const auto view = registry.join(cluster::member_named("here"), cluster::running("nxr"));
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
  const cluster::TemporaryDirectory folder;
  const auto child = ::fork();
  if (child == 0) {
    cluster::EmbeddedRegistry registry(folder.path());
    const auto view = registry.join(cluster::member_named("there"), cluster::running("nxr"));
    for (;;) ::pause();
  }
  cluster::EmbeddedRegistry registry(folder.path());
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

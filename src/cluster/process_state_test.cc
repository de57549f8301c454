#include "cluster/process_state.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace turno::cluster {
namespace {

TEST(ProcessState, FollowsAProcessToItsEnd) {
  EXPECT_EQ(process_state(::getpid()), ProcessState::running);
  const auto child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  EXPECT_EQ(process_state(child), ProcessState::running);
  int status = 0;
  ::kill(child, SIGSTOP);
  ::waitpid(child, &status, WUNTRACED);
  EXPECT_EQ(process_state(child), ProcessState::stopped);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(process_state(child), ProcessState::dead);
  ::waitpid(child, &status, 0);
  EXPECT_EQ(process_state(child), ProcessState::gone);
  EXPECT_EQ(process_state(0), ProcessState::unknown);
}

TEST(ProcessState, IsReadAsItWasWritten) {
  for (const auto state :
       {ProcessState::unknown, ProcessState::running, ProcessState::blocked, ProcessState::stopped,
        ProcessState::traced, ProcessState::dead, ProcessState::gone})
    EXPECT_EQ(process_state_named(text_of(state)), state);
  EXPECT_EQ(process_state_named("nonsense"), ProcessState::unknown);
  EXPECT_EQ(describe_process("n1", 7, ProcessState::stopped), "n1 (pid 7, stopped)");
  EXPECT_EQ(describe_process("n1", 7, ProcessState::unknown), "n1 (pid 7)");
  EXPECT_EQ(remedy(7, ProcessState::stopped), "`kill -CONT 7` lets it go on, `kill -9 7` ends it");
}

}  // namespace
}  // namespace turno::cluster

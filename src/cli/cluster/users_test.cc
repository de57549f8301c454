// Whose cluster it is: a user's own, and one for all users of the machine; what is left after a
// reboot, and what others could prepare.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "cli/frame/command_testing.h"
#include "registry/registry_testing.h"

namespace turno::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Users : public ::testing::Test {
 protected:
  Users() { ::chmod(folder_.path().c_str(), 0755); }
  ~Users() override {
    run("down --kill-after 1s");
    run("down --system --kill-after 1s");
  }

  [[nodiscard]] fs::path in(const char* name) const { return folder_.path() / name; }
  // Neither the machine's directories nor the user's own are touched. The group is that of
  // `nobody`.
  [[nodiscard]] std::string environment() const {
    return "env -u TURNO_DIR -u TURNO_NODE_ADDRESS TURNO_SYSTEM_RUNTIME=" + in("run").string() +
           " TURNO_SYSTEM_STATE=" + in("lib").string() + " TURNO_SYSTEM_GROUP=nogroup" +
           " XDG_RUNTIME_DIR=" + in("user").string() + " XDG_STATE_HOME=" + in("state").string() +
           " ";
  }
  Outcome run(const std::string& arguments) const {
    return shell(environment() + TURNO_BINARY + " " + arguments);
  }
  // As another user: not in any group of root's.
  [[nodiscard]] Outcome run_as(const std::string& user, const std::string& arguments) const {
    return shell("runuser -u " + user + " -- " + environment() + TURNO_BINARY + " " + arguments);
  }
  // False where other users cannot be played, or do not reach the program.
  [[nodiscard]] bool has_other_users() const {
    return ::geteuid() == 0 && run_as("nobody", "--version").status == 0;
  }
  [[nodiscard]] std::int64_t fence() const {
    const auto outcome = run("lock L -- sh -c 'echo $TURNO_FENCE'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.status == 0 ? std::stoll(outcome.output) : 0;
  }
  void up(const std::string& options = "") const {
    const auto outcome = run("up -n 1 --detach " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  }
  [[nodiscard]] static std::string mode_of(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return "missing";
    return fmt::format("{:o} {}", status.st_mode & 07777, status.st_gid);
  }

  const registry::TemporaryDirectory folder_;
};

// A reboot empties the runtime directory; somebody removes the rest, too.
TEST_F(Users, FencesOutliveARebootAndALostDirectory) {
  up();
  EXPECT_TRUE(fs::exists(in("user") / "turno" / "node-1.sock"));
  EXPECT_TRUE(fs::exists(in("state") / "turno" / "registry.db"));
  const auto first = fence();
  EXPECT_EQ(run("down").status, 0);
  fs::remove_all(in("user"));
  up();
  const auto second = fence();
  EXPECT_GT(second, first);
  EXPECT_EQ(run("down").status, 0);
  fs::remove_all(in("user"));
  fs::remove_all(in("state"));
  // The clock stands in for the registry, if views did not follow each other faster than it ticks.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  up();
  EXPECT_GT(fence(), second);
}

// As a cron job has no XDG_RUNTIME_DIR: the registry tells where the sockets are.
TEST_F(Users, TheOwnClusterIsFoundWhereverTheSocketsAre) {
  up();
  const auto found = shell(environment() + "XDG_RUNTIME_DIR=" + in("other").string() + " " +
                           TURNO_BINARY + " lock L -- echo inside");
  EXPECT_EQ(found.output, "inside\n");
}

TEST_F(Users, ASystemWideClusterIsForItsGroup) {
  if (!has_other_users()) GTEST_SKIP() << "needs root, and other users";
  up("--system");
  EXPECT_EQ(mode_of(in("run")), "2750 65534");
  EXPECT_EQ(mode_of(in("run") / "node-1.sock"), "660 65534");
  EXPECT_EQ(mode_of(in("lib")), "700 0");
  EXPECT_EQ(mode_of(in("lib") / "registry.db"), "600 0");
  // Found without being asked for; and the same one for both.
  EXPECT_THAT(run("status").output, HasSubstr("1 node, "));
  const auto both = run("lock L -- " + ("runuser -u nobody -- " + environment()) + TURNO_BINARY +
                        " lock L -w 100ms -- echo two at once");
  EXPECT_EQ(both.status, 124) << both.output;
  EXPECT_EQ(run_as("nobody", "lock L -- echo inside").output, "inside\n");
  // What is only root's says so to others, and where they find one for all.
  const auto closed = run_as("nobody", "lock L --dir " + in("lib").string() + " -- true");
  EXPECT_EQ(closed.status, 125);
  EXPECT_THAT(closed.output, AllOf(HasSubstr("does not belong to nobody"),
                                   HasSubstr("up --system makes a cluster for several users")));
  EXPECT_THAT(run_as("nobody", "lock L -- " + environment() + TURNO_BINARY + " why L").output,
              HasSubstr(",user=nobody)"));
  // A member of the group uses locks, and no more.
  const auto denied = "runuser -u nobody -- ";
  for (const auto* file : {"lib/registry.db", "lib/members", "lib/logs/node-1.log"})
    EXPECT_NE(shell(denied + ("ls " + in(file).string())).status, 0) << file;
  EXPECT_NE(shell(denied + ("rm -f " + (in("run") / "node-1.sock").string())).status, 0);
  EXPECT_NE(shell(denied + ("touch " + (in("run") / "x.sock").string())).status, 0);
  EXPECT_THAT(run_as("nobody", "up -n 1 --detach").output, HasSubstr("does not belong to nobody"));
  EXPECT_THAT(run_as("nobody", "down").output, HasSubstr("does not belong to nobody"));
  // Who is not in the group is told so. There is no TCP port to get around that.
  EXPECT_THAT(
      run_as("daemon", "lock L -- true").output,
      AllOf(HasSubstr("no node runs in"), HasSubstr("usermod --append --groups nogroup daemon")));
  EXPECT_THAT(run("members --json").output,
              AllOf(HasSubstr(R"("client":"")"), HasSubstr(R"("http":"")")));
  EXPECT_EQ(run("down").status, 0);
}

TEST_F(Users, WithoutItsGroupThereIsNoSystemWideCluster) {
  const auto outcome = shell(environment() + "TURNO_SYSTEM_GROUP=no-such-group " + TURNO_BINARY +
                             " up --system -n 1 --detach");
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.output, HasSubstr("groupadd --system no-such-group"));
}

// The directory was made by another user, who put a link where a log would be.
TEST_F(Users, WhatAnotherUserHasPreparedIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto place = in("prepared"), precious = in("precious");
  std::ofstream(precious) << "precious";
  fs::create_directories(place / "logs");
  fs::create_symlink(precious, place / "logs" / "node-1.log");
  std::ofstream(place / "registry.db") << "";
  for (const auto& path : {place, place / "logs", place / "registry.db"})
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  for (const auto* command : {"up -n 1 --detach", "node", "down"}) {
    const auto outcome = run(command + (" --dir " + place.string()));
    EXPECT_EQ(outcome.status, 125) << command;
    EXPECT_THAT(outcome.output,
                AllOf(HasSubstr("(nobody:nogroup, mode 0"), HasSubstr("does not belong to root")));
  }
  // Also where it would be looked for by default.
  fs::create_directories(in("user") / "turno");
  ASSERT_EQ(::chown((in("user") / "turno").c_str(), 65534, 65534), 0);
  EXPECT_THAT(run("up -n 1 --detach").output, HasSubstr("does not belong to root"));
  std::string text;
  std::ifstream(precious) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(Users, ALogIsNotWrittenThroughALink) {
  const auto place = in("own"), precious = in("precious");
  std::ofstream(precious) << "precious";
  fs::create_directories(place / "logs");
  fs::create_symlink(precious, place / "logs" / "node-1.log");
  const auto outcome = run("up -n 1 --detach --dir " + place.string());
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.output, HasSubstr("node-1.log"));
  EXPECT_EQ(fs::file_size(precious), 8U);
}

TEST_F(Users, TcpCanBeSwitchedOff) {
  up("--no-tcp");
  EXPECT_THAT(run("members --json").output,
              AllOf(HasSubstr(R"("client":"")"), HasSubstr(R"("http":"")"),
                    HasSubstr(R"("socket":")" + (in("user") / "turno" / "node-1.sock").string())));
  EXPECT_GT(fence(), 0);
}

TEST_F(Users, OtherMachinesAreLetInOnlyIfThatIsSaid) {
  const auto place = " --dir " + in("own").string();
  for (const auto* option : {"--client 0.0.0.0:0", "--http [::]:0", "--peer 0.0.0.0:0"}) {
    const auto outcome = run("node " + std::string(option) + place);
    EXPECT_EQ(outcome.status, 125) << option;
    EXPECT_THAT(outcome.output,
                AllOf(HasSubstr("other machines could connect"), HasSubstr("--expose")));
  }
  EXPECT_THAT(shell(environment() + "timeout -s TERM 0.5 " + TURNO_BINARY +
                    " node --expose --client 0.0.0.0:0" + place)
                  .output,
              HasSubstr("listens for clients on 0.0.0.0:"));
}

TEST_F(Users, NamesStayInTheDirectory) {
  for (const auto* name : {"../escape", "a/b", ".hidden", "'a b'", "''"}) {
    const auto outcome = run("node --dir " + in("own").string() + " --name " + name);
    EXPECT_EQ(outcome.status, 64) << name;
    EXPECT_THAT(outcome.output, HasSubstr("--name: ")) << name;
  }
  EXPECT_FALSE(fs::exists(in("own")));
}

TEST_F(Users, AStartThatFailsLeavesNoSocket) {
  const auto place = in("own");
  up("--dir " + place.string());
  EXPECT_THAT(run("node --name node-1 --dir " + place.string()).output,
              HasSubstr("a node named 'node-1' already runs"));
  EXPECT_EQ(run("node --algorithm dir --name b --dir " + place.string()).status, 125);
  EXPECT_FALSE(fs::exists(place / "b.sock"));
  EXPECT_TRUE(fs::exists(place / "node-1.sock"));
  EXPECT_EQ(run("down --dir " + place.string()).status, 0);
  EXPECT_FALSE(fs::exists(place / "node-1.sock"));
}

// An empty variable in a script is a mistake, and not the default.
TEST_F(Users, AnEmptyOptionIsRefused) {
  for (const auto* line : {"lock L --node '' -- true", "status --node ''", "why L --dir ''",
                           "node --client ''", "down --dir ''"})
    EXPECT_EQ(run(line).status, 64) << line;
}

}  // namespace
}  // namespace turno::testing

// Commands as turno lock runs them.
#include "cli/process/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/frame/duration.h"
#include "core/usage_error.h"

namespace turno::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class Commands : public ::testing::Test {
 protected:
  Commands() {
    std::string name = std::filesystem::temp_directory_path() / "turno-child-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Commands() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ifstream in(file(name));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  bool appears(const std::string& name) const {
    for (int i = 0; i < 2500 && contents(name).empty(); ++i)
      std::this_thread::sleep_for(milliseconds(2));
    return !contents(name).empty();
  }
  auto run(std::vector<std::string> arguments, milliseconds kill_after = seconds(10)) {
    Guard guard(word_within_);
    if (connection_ >= 0) guard.watch(connection_);
    if (expiry_) guard.expires(expiry_->kill_at());
    return run_command(
        {.arguments = std::move(arguments), .environment = {"TURNO_FENCE=42", "HOME=/elsewhere"}},
        signals_,
        {.lost = lost_.get_token(),
         .kill_after = kill_after,
         .expiry = expiry_ ? &*expiry_ : nullptr,
         .on_loss = {}},
        guard);
  }
  auto shell(const std::string& script, milliseconds kill_after = seconds(10)) {
    return run({"sh", "-c", "cd " + folder_ + "; " + script}, kill_after);
  }
  int status(const std::string& script) {
    const auto end = shell(script);
    EXPECT_TRUE(end);
    return end ? end->status : -1;
  }

  std::string folder_;
  Signals signals_;
  std::stop_source lost_;
  milliseconds word_within_ = seconds(60);
  int connection_ = -1;  // by which the lock is held
  std::optional<Expiry> expiry_;
};

bool is_alive(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string line;
  std::getline(in, line);
  return in && line.find(") Z") == std::string::npos;
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2500 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(2));
  return condition();
}

std::string word(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

TEST_F(Commands, GiveTheirStatus) {
  EXPECT_EQ(run({"true"})->status, 0);
  EXPECT_EQ(run({"false"})->status, 1);
  EXPECT_EQ(status("exit 77"), 77);
  EXPECT_EQ(status("kill -TERM $$"), 128 + SIGTERM);
  EXPECT_EQ(status("kill -KILL $$"), 128 + SIGKILL);
}

TEST_F(Commands, ThatCannotBeRunAreToldApart) {
  const auto missing = run({"no-such-command-anywhere"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().status, 127);
  EXPECT_THAT(missing.error().message, HasSubstr("no-such-command-anywhere: command not found"));
  EXPECT_EQ(run({file("missing/too")}).error().status, 127);
  EXPECT_EQ(run({""}).error().status, 127);
  std::ofstream(file("data")) << "just data";
  EXPECT_EQ(run({file("data")}).error().status, 126);
  EXPECT_EQ(run({folder_}).error().status, 126);
}

TEST_F(Commands, GetTheirArgumentsAsTheyAre) {
  EXPECT_EQ(run({"sh", "-c", "printf '<%s>' \"$@\" >" + file("out"), "sh", "a b", "", "*", "--x"})
                ->status,
            0);
  EXPECT_EQ(contents("out"), "<a b><><*><--x>");
}

TEST_F(Commands, GetTheEnvironment) {
  ::setenv("TURNO_FENCE", "old", 1);
  ::setenv("TURNO_TEST_KEPT", "kept", 1);
  EXPECT_EQ(status("echo $TURNO_FENCE $HOME $TURNO_TEST_KEPT $(env | grep -c ^TURNO_FENCE) >out"),
            0);
  EXPECT_EQ(contents("out"), "42 /elsewhere kept 1\n");
}

TEST_F(Commands, GetTheInput) {
  std::ofstream(file("in")) << "from outside";
  const auto saved = ::dup(STDIN_FILENO);
  const auto in = ::open(file("in").c_str(), O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  EXPECT_EQ(status("cat >out"), 0);
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(in);
  EXPECT_EQ(contents("out"), "from outside");
}

TEST_F(Commands, RunInAGroupOfTheirOwnWithNothingBlocked) {
  EXPECT_EQ(status("ps -o pgid= $$ >group; echo $$ >pid; grep SigBlk /proc/self/status >blocked"),
            0);
  EXPECT_EQ(std::stoi(contents("group")), std::stoi(contents("pid")));
  EXPECT_THAT(contents("blocked"), HasSubstr("0000000000000000"));
}

TEST_F(Commands, GetTheSignalsOfThisProcess) {
  for (const auto signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM}) {
    std::filesystem::remove(file("ready"));
    std::thread sender([&] {
      EXPECT_TRUE(appears("ready"));
      ::kill(::getpid(), signal);
    });
    EXPECT_EQ(status("trap 'exit 99' " + std::to_string(signal) +
                     "; echo >ready; while :; do sleep 0.01; done"),
              99);
    sender.join();
  }
}

TEST_F(Commands, EndWithTheLock) {
  std::thread loser([&] {
    EXPECT_TRUE(appears("ready"));
    lost_.request_stop();
  });
  const auto end =
      shell("trap 'echo >politely; exit 3' TERM; echo >ready; while :; do sleep 0.01; done");
  loser.join();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->lost);
  EXPECT_EQ(end->status, 3);
  EXPECT_FALSE(contents("politely").empty());
}

TEST_F(Commands, EndWithTheLockEvenIfTheyDoNotWantTo) {
  lost_.request_stop();  // before it begins
  const auto began = std::chrono::steady_clock::now();
  const auto end = shell("trap '' TERM; sleep 20", milliseconds(100));
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->lost);
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(5));
}

TEST_F(Commands, EndWithTheLockEvenIfTheyAreStopped) {
  std::thread loser([&] {
    EXPECT_TRUE(appears("ready"));
    lost_.request_stop();
  });
  const auto end = shell("echo >ready; kill -STOP $$");
  loser.join();
  EXPECT_TRUE(end->lost);
  EXPECT_EQ(end->status, 128 + SIGTERM);
}

TEST_F(Commands, EndWithTheLockTogetherWithTheirChildren) {
  std::thread loser([&] {
    EXPECT_TRUE(appears("pid"));
    lost_.request_stop();
  });
  // The shell goes at once, its child only when it must.
  const auto end =
      shell("sh -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 0.01; done' & wait",
            milliseconds(200));
  loser.join();
  EXPECT_TRUE(end->lost);
  EXPECT_TRUE(eventually([&] { return !is_alive(word(contents("pid"))); }));
}

TEST_F(Commands, MayLeaveSomethingBehindWhenTheyEndThemselves) {
  EXPECT_EQ(status("sleep 0.3 >/dev/null 2>&1 & echo $! >pid"), 0);
  EXPECT_TRUE(is_alive(word(contents("pid"))));
}

TEST_F(Commands, DieWithThisProcess) {
  const auto middle = ::fork();
  ASSERT_GE(middle, 0);
  if (middle == 0) {
    (void)shell("trap '' TERM HUP; echo $$ >pid; sh -c 'echo $$ >grandchild; sleep 20'; sleep 20");
    ::_exit(0);
  }
  EXPECT_TRUE(appears("grandchild"));
  EXPECT_TRUE(is_alive(word(contents("pid"))));
  ::kill(middle, SIGKILL);
  ::waitpid(middle, nullptr, 0);
  EXPECT_TRUE(eventually(
      [&] { return !is_alive(word(contents("pid"))) && !is_alive(word(contents("grandchild"))); }));
}

// Runs a script in a process of its own, as turno lock would, which can be stopped and killed.
class Wrapped : public Commands {
 protected:
  ~Wrapped() override {
    if (wrapper_ <= 0) return;
    ::kill(wrapper_, SIGKILL);
    ::waitpid(wrapper_, nullptr, 0);
  }
  void start(const std::string& script) {
    wrapper_ = ::fork();
    ASSERT_GE(wrapper_, 0);
    if (wrapper_ == 0) {
      if (node_ >= 0) ::close(node_);  // that end is the node's alone
      const auto end = shell(script);
      ::_exit(end && end->lost ? 123 : 0);
    }
    if (connection_ >= 0) ::close(connection_);
    EXPECT_TRUE(appears("pid"));
  }
  int status_of_wrapper() {
    int status = 0;
    ::waitpid(std::exchange(wrapper_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void connect() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    connection_ = ends[0];
    node_ = ends[1];
  }
  [[nodiscard]] bool is_gone(const std::string& name) const {
    return eventually([&] { return !is_alive(word(contents(name))); });
  }
  static constexpr auto stubborn = "trap '' TERM HUP; echo $$ >pid; while :; do sleep 0.01; done";

  pid_t wrapper_ = -1;
  int node_ = -1;
};

TEST_F(Wrapped, DieWhenTheConnectionEndsAndTheWrapperIsStopped) {
  word_within_ = milliseconds(100);
  connect();
  start(stubborn);
  ::kill(wrapper_, SIGSTOP);
  EXPECT_TRUE(is_alive(word(contents("pid"))));
  ::close(node_);
  EXPECT_TRUE(is_gone("pid"));
  ::kill(wrapper_, SIGCONT);
  EXPECT_EQ(status_of_wrapper(), 123);
}

TEST_F(Wrapped, DieAlsoIfTheyAreStopped) {
  word_within_ = milliseconds(100);
  connect();
  start("echo $$ >pid; kill -STOP $$");
  ::kill(wrapper_, SIGSTOP);
  ::close(node_);
  EXPECT_TRUE(is_gone("pid"));
}

TEST_F(Wrapped, DieWhenTheTimeToLiveIsOverAndTheWrapperIsStopped) {
  expiry_.emplace(seconds(2), Expiry::Clock::now());
  start(stubborn);
  ::kill(wrapper_, SIGSTOP);
  EXPECT_TRUE(is_gone("pid"));
  EXPECT_LT(Expiry::Clock::now(), expiry_->kill_at() + seconds(10));
  ::kill(wrapper_, SIGCONT);
  EXPECT_EQ(status_of_wrapper(), 123);
}

TEST_F(Wrapped, GetATermBeforeTheTimeToLiveIsOver) {
  expiry_.emplace(seconds(4), Expiry::Clock::now());
  start("trap 'date +%s%N >terminated; exit 0' TERM; echo $$ >pid; while :; do sleep 0.01; done");
  EXPECT_TRUE(appears("terminated"));
  EXPECT_EQ(status_of_wrapper(), 123);
}

TEST_F(Wrapped, KeepTheConnectionUntilTheyAreGone) {
  connect();
  start(stubborn);
  ::kill(wrapper_, SIGKILL);
  EXPECT_EQ(status_of_wrapper(), 128 + SIGKILL);
  char byte = 0;
  EXPECT_EQ(::read(node_, &byte, 1), 0);  // waits for the end of all copies
  EXPECT_FALSE(is_alive(word(contents("pid"))));
  ::close(node_);
}

TEST(GuardOfACommand, GoesWithTheConnectionToWhichTheLockHasMoved) {
  std::array<int, 2> old{}, next{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, old.data()), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, next.data()), 0);
  const auto sleeper = ::fork();
  if (sleeper == 0) {
    for (const auto end : {old[1], next[1]}) ::close(end);
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  ::setpgid(sleeper, sleeper);
  Guard guard(milliseconds(1));
  guard.watch(old[0]);
  ASSERT_TRUE(guard.start(sleeper));
  guard.watch(next[0]);
  ::shutdown(old[1], SHUT_RDWR);
  EXPECT_EQ(::waitpid(sleeper, nullptr, WNOHANG), 0);
  ::shutdown(next[1], SHUT_RDWR);
  int status = 0;
  ::waitpid(sleeper, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(guard.dismiss());
  for (const auto end : {old[0], old[1], next[0], next[1]}) ::close(end);
}

TEST(Durations, AreWhatPeopleWrite) {
  const auto parse = [](std::string_view text) {
    return parse_duration("--timeout", text).count();
  };
  EXPECT_EQ(parse("0"), 0);
  EXPECT_EQ(parse("3"), 3000);
  EXPECT_EQ(parse("0.5"), 500);
  EXPECT_EQ(parse("250ms"), 250);
  EXPECT_EQ(parse("1.5s"), 1500);
  EXPECT_EQ(parse("2m"), 120'000);
  EXPECT_EQ(parse("1h"), 3'600'000);
  EXPECT_EQ(parse("1d"), 86'400'000);
  EXPECT_EQ(parse("0.1ms"), 1);
  for (const auto* text : {"", "-1", "s", "1x", "1 s", "nan", "inf", "1e3", "99999999999d", "1s2"})
    EXPECT_THROW(parse(text), UsageError) << text;
}

}  // namespace
}  // namespace turno::cli

// turno lock as a user runs it, at a real node.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "turno/turno.h"

namespace turno {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;      // as a shell would say it
  std::string output;  // standard output and standard error together
};

// A node in this process, with a socket for clients.
class RealNode {
 public:
  explicit RealNode(std::string folder) : folder_(std::move(folder)) { start(); }

  [[nodiscard]] std::string address() const { return "unix:" + folder_ + "/node.sock"; }
  [[nodiscard]] std::size_t waiting(const std::string& lock) const {
    const auto holder = who(lock);
    return holder ? holder->waiting : 0;
  }
  [[nodiscard]] bool is_free(const std::string& lock) const { return !who(lock).has_value(); }
  // Its clients lose what they hold. It comes back with nothing.
  void restart() {
    node_.reset();
    start();
  }

 private:
  void start() {
    auto node = Node::start({.directory = folder_,
                             .name = "node",
                             .lock_delay = milliseconds(1),
                             .client_socket = folder_ + "/node.sock"});
    if (!node) throw std::runtime_error(node.error().message);
    node_ = std::move(*node);
  }
  [[nodiscard]] std::optional<Holder> who(const std::string& lock) const {
    return *(*Client::connect(address()))->who(lock);
  }

  const std::string folder_;
  std::unique_ptr<Node> node_;
};

std::string temporary_folder() {
  std::string name = std::filesystem::temp_directory_path() / "turno-lock-XXXXXX";
  return ::mkdtemp(name.data());
}

class LockCommand : public ::testing::Test {
 protected:
  ~LockCommand() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ifstream in(file(name));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  // turno lock with these words, its output in a file.
  pid_t start(const Words& words, const std::string& output = "output") const {
    Words all{TURNO_BINARY, "lock", "--node", node_.address()};
    all.insert(all.end(), words.begin(), words.end());
    return launch(all, output);
  }
  pid_t launch(Words all, const std::string& output = "output") const {
    std::vector<char*> pointers;
    for (auto& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const auto path = file(output);
    const auto pid = ::fork();
    if (pid != 0) return pid;
    ::setsid();  // away from the terminal of whoever runs the tests
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    const auto out = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::chdir(folder_.c_str());
    ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  [[nodiscard]] Outcome finish(pid_t pid, const std::string& output = "output") const {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(output)};
  }
  [[nodiscard]] Outcome lock(const Words& words) const { return finish(start(words)); }

  template <class Condition>
  static bool eventually(const Condition& condition) {
    for (int i = 0; i < 2500 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(2));
    return condition();
  }
  [[nodiscard]] bool appears(const std::string& name) const {
    return eventually([&] { return !contents(name).empty(); });
  }
  // Another session that has the lock.
  struct Other {
    std::unique_ptr<Client> client;
    Grant grant;
  };
  [[nodiscard]] Other other_holding(const std::string& name) const {
    Other other;
    other.client = *Client::connect(node_.address(), {.name = "other"});
    other.grant = *other.client->acquire(name);
    return other;
  }

  const std::string folder_ = temporary_folder();
  RealNode node_{folder_};
};

bool is_alive(const std::string& pid) {
  std::ifstream in("/proc/" + std::to_string(std::stoi(pid)) + "/stat");
  std::string line;
  std::getline(in, line);
  return in && line.find(") Z") == std::string::npos;
}

TEST_F(LockCommand, GivesTheStatusOfTheCommand) {
  EXPECT_EQ(lock({"L", "--", "true"}).status, 0);
  EXPECT_EQ(lock({"L", "sh", "-c", "exit 42"}).status, 42);
  EXPECT_EQ(lock({"L", "sh", "-c", "kill -9 $$"}).status, 128 + 9);
  EXPECT_EQ(lock({"L", "no-such-command"}).status, 127);
  EXPECT_EQ(lock({"L", "/etc/passwd"}).status, 126);
  EXPECT_TRUE(eventually([&] { return node_.is_free("L"); }));
}

TEST_F(LockCommand, TakesTheCommandWithAndWithoutDashes) {
  EXPECT_EQ(lock({"L", "echo", "-n", "--timeout", "-x"}).output, "--timeout -x");
  EXPECT_EQ(lock({"L", "--", "echo", "-n", "--"}).output, "--");
  EXPECT_EQ(lock({"-w5", "--kill-after", "0", "L", "--ttl=9s", "--", "echo", "a"}).output, "a\n");
  EXPECT_THAT(lock({"L", "--kill-after", "5s", "true"}).output,
              HasSubstr("--kill-after is shortened"));
  EXPECT_EQ(lock({"L", "-q", "-v", "--kill-after", "1s", "echo", "--", "--help"}).status, 0);
  EXPECT_EQ(lock({"--", "-L", "echo", "b"}).output, "b\n");
}

TEST_F(LockCommand, AnswersMisuse) {
  EXPECT_EQ(lock({}).status, 64);
  EXPECT_EQ(lock({"L"}).status, 64);
  EXPECT_THAT(lock({"L", "--"}).output, HasSubstr("needs a command"));
  EXPECT_EQ(lock({"L", "--timeout", "soon", "true"}).status, 64);
  EXPECT_EQ(lock({"L", "--ttl", "0", "true"}).status, 64);
  EXPECT_EQ(lock({"L", "--unknown", "true"}).status, 64);
  EXPECT_EQ(lock({"--help"}).status, 0);
  const auto nowhere =
      finish(launch({TURNO_BINARY, "lock", "--node", "unix:/nowhere", "L", "true"}));
  EXPECT_EQ(nowhere.status, 125);
  EXPECT_THAT(nowhere.output, HasSubstr("no node answers at unix:/nowhere"));
  EXPECT_EQ(lock({"", "true"}).status, 64);
  EXPECT_EQ(lock({"L", "-n", "-w", "1s", "true"}).status, 64);
  EXPECT_EQ(lock({"L", "-E", "256", "true"}).status, 64);
}

TEST_F(LockCommand, TellsTheCommandWhatItHolds) {
  const auto outcome =
      lock({"L", "sh", "-c", "echo $TURNO_LOCK $TURNO_FENCE $TURNO_NODE $TURNO_SESSION"});
  EXPECT_THAT(outcome.output, MatchesRegex("L [0-9]+ node [0-9]+\n"));
}

TEST_F(LockCommand, GivesUpInTimeAndNamesTheHolder) {
  const auto other = other_holding("L");
  auto outcome = lock({"L", "--timeout", "0", "true"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.output, HasSubstr("lock 'L' is held by node node, session"));
  outcome = lock({"L", "-w", "50ms", "true"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.output, HasSubstr("not acquired within 50 ms; held by node node"));
  EXPECT_EQ(lock({"L", "-q", "-w", "0", "true"}).output, "");
  EXPECT_EQ(lock({"L", "-n", "true"}).status, 124);
  EXPECT_EQ(lock({"L", "-n", "-E", "7", "true"}).status, 7);
  EXPECT_EQ(node_.waiting("L"), 0U);
}

TEST_F(LockCommand, SaysWhoIsInTheWay) {
  auto other = other_holding("L");
  const auto first = start({"L", "true"}, "first");
  EXPECT_TRUE(eventually([&] { return node_.waiting("L") == 1; }));
  const auto second = start({"L", "-v", "true"}, "second");
  EXPECT_TRUE(eventually([&] {
    return contents("second").find("1 other waits") != std::string::npos;
  })) << contents("second");
  EXPECT_THAT(contents("second"), HasSubstr("waiting for lock 'L': held by node node, session"));
  other.grant.release();
  EXPECT_EQ(finish(first, "first").output, "");
  EXPECT_EQ(finish(second, "second").status, 0);
}

TEST_F(LockCommand, WarnsWhoWaitsForItself) {
  const auto outcome =
      lock({"L", TURNO_BINARY, "lock", "--node", node_.address(), "L", "-n", "true"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.output, HasSubstr("this runs under lock 'L' already"));
  const auto between = lock({"L", TURNO_BINARY, "lock", "--node", node_.address(), "other",
                             TURNO_BINARY, "lock", "--node", node_.address(), "L", "-n", "true"});
  EXPECT_THAT(between.output, HasSubstr("this runs under lock 'L' already"));
}

TEST_F(LockCommand, EndsTheWaitAtASignal) {
  const auto other = other_holding("L");
  for (const auto signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM}) {
    const auto pid = start({"L", "true"});
    EXPECT_TRUE(eventually([&] { return node_.waiting("L") == 1; }));
    ::kill(pid, signal);
    EXPECT_EQ(finish(pid).status, 128 + signal);
    EXPECT_TRUE(eventually([&] { return node_.waiting("L") == 0; }));
  }
}

TEST_F(LockCommand, PassesSignalsOn) {
  const auto pid =
      start({"L", "sh", "-c", "trap 'exit 9' USR1; echo >ready; while :; do sleep 0.01; done"});
  EXPECT_TRUE(appears("ready"));
  ::kill(pid, SIGUSR1);
  EXPECT_EQ(finish(pid).status, 9);
}

TEST_F(LockCommand, StopsTheCommandWhenTheLockIsLost) {
  auto pid = start({"L", "sh", "-c", "echo >ready; while :; do sleep 0.01; done"});
  EXPECT_TRUE(appears("ready"));
  node_.restart();
  auto outcome = finish(pid);
  EXPECT_EQ(outcome.status, 123);
  EXPECT_THAT(outcome.output, HasSubstr("lock 'L' was lost: the "));

  pid = start({"L", "--kill-after", "100ms", "sh", "-c",
               "trap '' TERM; echo >ready2; while :; do sleep 0.01; done"});
  EXPECT_TRUE(appears("ready2"));
  node_.restart();
  EXPECT_EQ(finish(pid).status, 123);
}

TEST_F(LockCommand, TakesTheCommandWithItWhenKilled) {
  const auto pid =
      start({"L", "sh", "-c", "trap '' TERM HUP; sh -c 'echo $$ >child; sleep 20'; sleep 20"});
  EXPECT_TRUE(appears("child"));
  ::kill(pid, SIGKILL);
  EXPECT_EQ(finish(pid).status, 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return node_.is_free("L"); }));
  EXPECT_FALSE(is_alive(contents("child"))) << "the lock was free before the command was gone";
}

TEST_F(LockCommand, CanBeStoppedAndContinued) {
  const auto pid = start({"L", "sh", "-c", "echo >ready; sleep 0.2; echo done"});
  EXPECT_TRUE(appears("ready"));
  ::kill(pid, SIGTSTP);
  std::this_thread::sleep_for(milliseconds(50));
  ::kill(pid, SIGCONT);
  const auto outcome = finish(pid);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "done\n");
}

TEST_F(LockCommand, ExcludesManyAtOnce) {
  std::ofstream(file("count")) << "0\n";
  std::vector<pid_t> all;
  constexpr int many = 100;
  for (int i = 0; i < many; ++i)
    all.push_back(start({"L", "sh", "-c", "read n <count; echo $((n + 1)) >count"},
                        "output" + std::to_string(i)));
  for (int i = 0; i < many; ++i) {
    const auto outcome = finish(all[static_cast<std::size_t>(i)], "output" + std::to_string(i));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  }
  EXPECT_EQ(contents("count"), std::to_string(many) + "\n");
}

TEST_F(LockCommand, ElectRunsTheCommandWhileItLeads) {
  const auto elect = [&](Words words, const std::string& output) {
    words.insert(words.begin(), {TURNO_BINARY, "elect", "--node", node_.address()});
    return launch(words, output);
  };
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  const auto first = elect({"boss", "--value", "me", "--", "sh", "-c",
                            "echo $TURNO_ELECTION $TURNO_TERM $TURNO_FENCE; cat fifo"},
                           "first");
  ASSERT_TRUE(appears("first"));
  const auto refused = finish(elect({"boss", "-n", "true"}, "refused"), "refused");
  EXPECT_EQ(refused.status, 124);
  EXPECT_THAT(refused.output, HasSubstr("election 'boss' is led from node node"));
  EXPECT_EQ(finish(start({"boss", "-n", "true"}, "lock"), "lock").status, 0) << "another thing";
  { std::ofstream(file("fifo")) << "done\n"; }
  const auto led = finish(first, "first");
  EXPECT_EQ(led.status, 0);
  std::istringstream words(led.output);
  std::string name, term, fence, done;
  words >> name >> term >> fence >> done;
  EXPECT_EQ(name, "boss");
  EXPECT_GT(std::stoull(term), 0U);
  EXPECT_EQ(fence, term);
  EXPECT_EQ(done, "done");
  EXPECT_EQ(
      finish(elect({"boss", "--value", std::string(4097, 'v'), "true"}, "long"), "long").status,
      64);
}

}  // namespace
}  // namespace turno

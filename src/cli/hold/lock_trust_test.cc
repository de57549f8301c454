// turno lock while nodes and wrappers are killed and stopped: real processes, whose commands write
// down when they run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "registry/registry_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;  // as a shell would say it
  std::string output;
};

class LockTrust : public ::testing::Test {
 protected:
  ~LockTrust() override {
    for (const auto& [_, pid] : nodes_) ::kill(pid, SIGCONT);
    run({"down", "--dir", directory(), "--kill-after", "1s"});
  }
  // Nodes node-1 to node-n.
  void up(int nodes) {
    const auto outcome = run({"up", "-n", std::to_string(nodes), "--detach", "--json",
                              "--lock-delay", "2s", "--dir", directory()});
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    const auto answer = json::parse(outcome.output).as_object();
    for (const auto& member : answer.at("members").as_array())
      nodes_[std::string(member.at("name").as_string())] =
          static_cast<pid_t>(member.at("pid").as_int64());
  }

  [[nodiscard]] std::string directory() const { return folder_.path() / "cluster"; }
  [[nodiscard]] std::string socket(const std::string& node) const {
    return "unix:" + directory() + "/" + node + ".sock";
  }
  [[nodiscard]] std::string contents(const std::string& file) const {
    std::ifstream in(folder_.path() / file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void touch(const std::string& file) const { std::ofstream(folder_.path() / file) << "x"; }

  // turno with these words, in the folder, its output in the file `name`.
  [[nodiscard]] pid_t start(Words words, const std::string& name) const {
    words.insert(words.begin(), TURNO_BINARY);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string out = folder_.path() / name;
    const auto pid = ::fork();
    if (pid != 0) return pid;
    ::setsid();
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    if (::chdir(folder_.path().c_str()) == 0) ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  [[nodiscard]] pid_t lock(Words options, const std::string& script,
                           const std::string& name) const {
    options.insert(options.begin(), "lock");
    options.insert(options.end(), {"--", "sh", "-c", script});
    return start(options, name);
  }
  [[nodiscard]] Outcome finish(pid_t pid, const std::string& name) const {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(name)};
  }
  Outcome run(const Words& words) const { return finish(start(words, "run"), "run"); }

  template <class Condition>
  static bool eventually(const Condition& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
    return condition();
  }
  [[nodiscard]] bool appears(const std::string& file) const {
    return eventually([&] { return !contents(file).empty(); });
  }
  [[nodiscard]] bool says(const std::string& file, const std::string& text) const {
    return eventually([&] { return contents(file).find(text) != std::string::npos; });
  }
  [[nodiscard]] std::uint64_t waiting(const std::string& lock, const std::string& node) const {
    const auto client = Client::connect(socket(node));
    const auto holder = client ? (*client)->who(lock) : tl::unexpected(client.error());
    return holder && *holder ? (*holder)->waiting : 0;
  }

  // A command that does not want to end and notes when it ran, and one that notes when it began.
  static constexpr auto stubborn =
      "trap '' TERM HUP; while :; do date +%s%N >>old; sleep 0.02; done";
  static constexpr auto next =
      "date +%s%N >next; sleep 0.3";  // if the old one still runs, it notes it
  void expect_no_overlap() const {
    const auto old = contents("old");
    const auto last = old.find_last_of('\n', old.size() - 2);
    EXPECT_LT(std::stoll(old.substr(last == std::string::npos ? 0 : last + 1)),
              std::stoll(contents("next")));
  }

  const registry::TemporaryDirectory folder_;
  std::map<std::string, pid_t> nodes_;
};

TEST_F(LockTrust, AWaiterWhoseNodeIsKilledWaitsAtAnother) {
  up(3);
  const auto holder = lock({"L", "--node", socket("node-3")},
                           "echo x >ready; while [ ! -e go ]; do sleep 0.02; done", "holder");
  ASSERT_TRUE(appears("ready"));
  const auto waiter = lock({"L", "--node", socket("node-1")}, "echo got it", "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-3") == 1; }));
  ::kill(nodes_["node-1"], SIGKILL);
  EXPECT_TRUE(says("waiter", "its place in the queue is lost")) << contents("waiter");
  touch("go");
  EXPECT_EQ(finish(holder, "holder").status, 0);
  const auto outcome = finish(waiter, "waiter");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("got it"));
}

// It was given one address, and has learned the other.
TEST_F(LockTrust, AWaiterThatHasMovedAsksWhereItIsWhoHolds) {
  up(2);
  const auto holder = lock({"L", "--node", socket("node-2")},
                           "echo x >ready; while [ ! -e go ]; do sleep 0.02; done", "holder");
  ASSERT_TRUE(appears("ready"));
  const auto waiter = lock({"L", "-v", "--node", socket("node-1")}, "true", "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  ::kill(nodes_["node-1"], SIGKILL);
  EXPECT_TRUE(says("waiter", "waiting for lock 'L': held by node node-2")) << contents("waiter");
  touch("go");
  EXPECT_EQ(finish(holder, "holder").status, 0);
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
}

TEST_F(LockTrust, CommandsSpreadOverTheNodes) {
  up(3);
  std::map<std::string, int> used;
  for (int i = 0; i < 24; ++i) {
    const auto pid = lock({"L", "--dir", directory()}, "printf $TURNO_NODE", "out");
    ++used[finish(pid, "out").output];
  }
  EXPECT_GT(used.size(), 1U);
}

TEST_F(LockTrust, AStoppedNodeHoldsNobodyUp) {
  up(3);
  const auto holder = lock({"held", "--node", socket("node-2")},
                           "echo x >ready; while [ ! -e go ]; do sleep 0.02; done", "holder");
  ASSERT_TRUE(appears("ready"));
  ::kill(nodes_["node-1"], SIGSTOP);
  const auto timed = [&](const std::string& name, const std::string& patience) {
    const auto began = std::chrono::steady_clock::now();
    const auto pid = lock({name, "-w", patience, "--node", socket("node-1"), "--node",
                           socket("node-2"), "--node", socket("node-3")},
                          "true", "out");
    const auto outcome = finish(pid, "out");
    EXPECT_THAT(outcome.status, AnyOf(0, 124)) << outcome.output;
    return std::pair(outcome.status, std::chrono::steady_clock::now() - began);
  };
  // At most half a second more than it may wait, and four for a try; and a second for the machine.
  for (const auto& [patience, most] : {std::pair("0", 4000), std::pair("2s", 3500)}) {
    const auto [status, time] = timed("held", patience);
    EXPECT_EQ(status, 124);
    EXPECT_LT(time, milliseconds(most)) << patience;
  }
  // A name that has its home at the stopped node is not to be had; the others are.
  int had = 0;
  for (int i = 0; i < 5; ++i) had += timed("L" + std::to_string(i), "1s").first == 0 ? 1 : 0;
  EXPECT_GT(had, 0);
  touch("go");
  EXPECT_EQ(finish(holder, "holder").status, 0);
}

TEST_F(LockTrust, ACommandWhoseNodeIsStoppedEndsWithoutIt) {
  up(2);
  const auto holder = lock({"L", "--node", socket("node-1")},
                           "echo x >ready; while [ ! -e go ]; do sleep 0.02; done", "holder");
  ASSERT_TRUE(appears("ready"));
  ::kill(nodes_["node-1"], SIGSTOP);
  touch("go");
  EXPECT_EQ(finish(holder, "holder").status, 0) << "it hangs until the node goes on, or lost it";
  ::kill(nodes_["node-1"], SIGCONT);
  EXPECT_EQ(
      finish(lock({"L", "-w", "20s", "--node", socket("node-2")}, "true", "out"), "out").status, 0);
}

TEST_F(LockTrust, ACommandThatIgnoresSigtermIsGoneBeforeTheLockDelayIsOver) {
  up(2);
  const auto holder =
      lock({"L", "--kill-after", "1m", "--node", socket("node-1")}, stubborn, "holder");
  ASSERT_TRUE(appears("old"));
  const auto waiter = lock({"L", "--node", socket("node-2")}, next, "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  ::kill(nodes_["node-1"], SIGKILL);
  const auto outcome = finish(holder, "holder");
  EXPECT_EQ(outcome.status, 123);
  EXPECT_THAT(outcome.output, HasSubstr("lock 'L' was lost: the connection to the node at"));
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
  expect_no_overlap();
}

TEST_F(LockTrust, ACommandIsGoneBeforeItsTimeToLiveIsOverThoughTheWrapperIsStopped) {
  up(2);
  const auto holder = lock({"L", "--ttl", "3s", "--node", socket("node-1")}, stubborn, "holder");
  ASSERT_TRUE(appears("old"));
  const auto waiter = lock({"L", "--node", socket("node-2")}, next, "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  ::kill(holder, SIGSTOP);
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
  expect_no_overlap();
  ::kill(holder, SIGCONT);
  EXPECT_EQ(finish(holder, "holder").status, 123);
}

TEST_F(LockTrust, ACommandGoesOnWhenItsNodeLeaves) {
  up(3);
  const auto holder =
      lock({"L", "-v", "--node", socket("node-1")},
           "date +%s%N >old; while [ ! -e go ]; do sleep 0.02; done; date +%s%N >old", "holder");
  ASSERT_TRUE(appears("old"));
  const auto waiter = lock({"L", "--node", socket("node-1")}, next, "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  // One after another, as for an upgrade; the lock and the wait move twice.
  for (const auto* node : {"node-1", "node-2"}) {
    ::kill(nodes_[node], SIGTERM);
    EXPECT_TRUE(eventually([&] { return ::kill(nodes_[node], 0) != 0; }));
    nodes_.erase(node);
  }
  EXPECT_TRUE(eventually([&] { return waiting("L", "node-3") == 1; }));
  EXPECT_EQ(contents("next"), "");
  touch("go");
  const auto outcome = finish(holder, "holder");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(finish(waiter, "waiter").status, 0) << contents("waiter");
  expect_no_overlap();
}

TEST_F(LockTrust, ACommandDiesWithItsNodeThoughTheWrapperIsStopped) {
  up(2);
  const auto holder = lock({"L", "--node", socket("node-1")}, stubborn, "holder");
  ASSERT_TRUE(appears("old"));
  const auto waiter = lock({"L", "--node", socket("node-2")}, next, "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  ::kill(holder, SIGSTOP);
  ::kill(nodes_["node-1"], SIGKILL);
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
  expect_no_overlap();
  ::kill(holder, SIGCONT);
  EXPECT_EQ(finish(holder, "holder").status, 123);
}

// The wrapper is stopped, so that its node waits for it in vain until it is told again.
TEST_F(LockTrust, ACommandIsGoneBeforeTheNextIfItsNodeIsToldTwiceToEnd) {
  up(2);
  const auto holder = lock({"L", "--node", socket("node-1")}, stubborn, "holder");
  ASSERT_TRUE(appears("old"));
  const auto waiter = lock({"L", "--node", socket("node-2")}, next, "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  ::kill(holder, SIGSTOP);
  ::kill(nodes_["node-1"], SIGTERM);
  ASSERT_TRUE(says("cluster/logs/node-1.log", "this node leaves as soon as"));
  ::kill(nodes_["node-1"], SIGTERM);
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
  expect_no_overlap();
  EXPECT_THAT(contents("cluster/logs/node-1.log"), HasSubstr("again: the node ends at once"));
  ::kill(holder, SIGCONT);
  EXPECT_EQ(finish(holder, "holder").status, 123);
}

// It was stopped while it waited, and the lock was granted and lost before it went on.
TEST_F(LockTrust, ACommandIsNotStartedWhenTheLockIsLostAlready) {
  up(2);
  const auto holder = lock({"L", "--node", socket("node-2")},
                           "echo x >ready; while [ ! -e go ]; do sleep 0.02; done", "holder");
  ASSERT_TRUE(appears("ready"));
  const auto waiter = lock({"L", "--node", socket("node-1")}, "echo x >started", "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-2") == 1; }));
  ::kill(waiter, SIGSTOP);
  touch("go");
  EXPECT_EQ(finish(holder, "holder").status, 0);
  EXPECT_TRUE(eventually([&] { return waiting("L", "node-2") == 0; }));
  ::kill(nodes_["node-1"], SIGKILL);
  EXPECT_EQ(
      finish(lock({"L", "-w", "20s", "--node", socket("node-2")}, "true", "out"), "out").status, 0);
  ::kill(waiter, SIGCONT);
  const auto outcome = finish(waiter, "waiter");
  EXPECT_EQ(outcome.status, 123) << outcome.output;
  EXPECT_EQ(contents("started"), "") << outcome.output;
}

TEST_F(LockTrust, WhyKnowsThatTheHolderIsStopped) {
  up(1);
  const auto holder = lock({"L", "--node", socket("node-1")}, "echo x >ready; sleep 60", "holder");
  ASSERT_TRUE(appears("ready"));
  ::kill(holder, SIGSTOP);
  const auto number = std::to_string(holder);
  EXPECT_THAT(run({"why", "L", "--dir", directory()}).output,
              ::testing::AllOf(HasSubstr("process " + number + ", which is stopped"),
                               HasSubstr("kill -CONT " + number), HasSubstr("kill -9 " + number)));
  ::kill(holder, SIGKILL);
  EXPECT_EQ(finish(holder, "holder").status, 137);
}

// The dead whom nobody has buried are no members of the group.
TEST_F(LockTrust, ALockIsFreeWhenTheWrapperAndItsGroupAreKilled) {
  up(1);
  const auto holder =
      lock({"L", "--node", socket("node-1")}, "echo x >ready; sleep 60 & sleep 60", "holder");
  ASSERT_TRUE(appears("ready"));
  const auto waiter = lock({"L", "--node", socket("node-1")}, "true", "waiter");
  ASSERT_TRUE(eventually([&] { return waiting("L", "node-1") == 1; }));
  const auto began = std::chrono::steady_clock::now();
  ::kill(holder, SIGKILL);
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(900));
  EXPECT_EQ(finish(holder, "holder").status, 137);
}

TEST_F(LockTrust, ANodeIsDrainedByACommand) {
  up(3);
  const auto holder = lock({"L", "--node", socket("node-2")},
                           "echo x >old; while [ ! -e go ]; do sleep 0.02; done", "holder");
  ASSERT_TRUE(appears("old"));
  const auto drained = run({"drain", "node-2", "--dir", directory()});
  EXPECT_EQ(drained.status, 0) << drained.output;
  EXPECT_THAT(drained.output, HasSubstr("node-2 (pid "));
  nodes_.erase("node-2");
  EXPECT_EQ(run({"lock", "L", "-n", "--dir", directory(), "--", "true"}).status, 124)
      << "it is still held";
  touch("go");
  EXPECT_EQ(finish(holder, "holder").status, 0) << contents("holder");
  const auto unknown = run({"drain", "node-2", "--dir", directory()});
  EXPECT_EQ(unknown.status, 125);
  EXPECT_THAT(unknown.output, HasSubstr("there is no node 'node-2'; there are node-1, node-3"));
}

// Nobody is left to move to: their locks are lost, and they have the lock delay to stop.
TEST_F(LockTrust, WhenAllNodesLeaveTheCommandIsGoneBeforeThem) {
  up(2);
  const auto holder = lock({"L", "--node", socket("node-1")}, stubborn, "holder");
  ASSERT_TRUE(appears("old"));
  const auto down = run({"down", "--dir", directory()});
  EXPECT_EQ(down.status, 0) << down.output;
  EXPECT_THAT(down.output, HasSubstr("2 of 2 nodes stopped"));
  nodes_.clear();
  const auto last = contents("old");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(contents("old"), last) << "it runs on without them";
  EXPECT_EQ(finish(holder, "holder").status, 123) << contents("holder");
}

// ---- semaphores

TEST_F(LockTrust, ASemaphoreRunsSoManyCommandsAtOnce) {
  up(3);
  std::vector<pid_t> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(start({"semaphore", "S", "--permits", "3", "--dir", directory(), "--", "sh", "-c",
                         "echo + $TURNO_SLOTS >>inside; sleep 0.1; echo - $TURNO_SLOTS >>inside"},
                        "command" + std::to_string(i)));
  for (int i = 0; i < 8; ++i) {
    const auto name = "command" + std::to_string(i);
    EXPECT_EQ(finish(all[static_cast<std::size_t>(i)], name).status, 0) << contents(name);
  }
  std::istringstream lines(contents("inside"));
  std::string sign;
  std::set<int> slots;
  std::size_t most = 0, entries = 0;
  for (int slot = 0; lines >> sign >> slot;) {
    if (sign == "-") {
      slots.erase(slot);
      continue;
    }
    ++entries;
    EXPECT_TRUE(slots.insert(slot).second) << "two have permit " << slot;
    EXPECT_LT(slot, 3);
    most = std::max(most, slots.size());
  }
  EXPECT_EQ(entries, 8U);
  EXPECT_EQ(most, 3U);
}

TEST_F(LockTrust, ASemaphoreTellsWhatItCannotDo) {
  up(2);
  const auto semaphore = [&](Words words) {
    words.insert(words.begin(), {"semaphore", "S", "--dir", directory()});
    words.push_back("true");
    return run(words);
  };
  EXPECT_THAT(semaphore({}).output, HasSubstr("say how many permits it has"));
  EXPECT_EQ(semaphore({}).status, 125);
  EXPECT_EQ(semaphore({"-p", "2", "-c", "3"}).status, 64);
  EXPECT_EQ(semaphore({"-p", "70000"}).status, 64);
  const auto holder = start({"semaphore", "S", "-p", "2", "--dir", directory(), "--", "sh", "-c",
                             "echo $TURNO_SEMAPHORE $TURNO_SLOTS >ready; sleep 60"},
                            "holder");
  ASSERT_TRUE(appears("ready"));
  EXPECT_EQ(contents("ready"), "S 0\n");
  EXPECT_EQ(semaphore({}).status, 0);
  EXPECT_EQ(semaphore({"-n", "-c", "2"}).status, 124);
  EXPECT_EQ(semaphore({"-w", "50ms", "-c", "2", "-E", "7"}).status, 7);
  EXPECT_THAT(semaphore({"-p", "5"}).output, HasSubstr("has 2 permits as long as it is in use"));
  EXPECT_THAT(run({"why", "S", "--dir", directory()}).output,
              ::testing::AllOf(HasSubstr("Of semaphore 'S' 1 permit is in use"),
                               HasSubstr("permit 0 held by turno-semaphore/")));
  ::kill(holder, SIGTERM);
  EXPECT_EQ(finish(holder, "holder").status, 143);
}

// Its node leaves, and permits do not move: the command is stopped before another has them.
TEST_F(LockTrust, AHolderOfPermitsIsStoppedWhenItsNodeLeaves) {
  up(2);
  const auto holder = start({"semaphore", "S", "-p", "1", "--node", socket("node-1"), "--", "sh",
                             "-c", "echo x >ready; exec sleep 60"},
                            "holder");
  ASSERT_TRUE(appears("ready"));
  EXPECT_EQ(run({"drain", "node-1", "--dir", directory()}).status, 0);
  const auto outcome = finish(holder, "holder");
  EXPECT_EQ(outcome.status, 123);
  EXPECT_THAT(outcome.output, HasSubstr("semaphore 'S' was lost"));
  EXPECT_EQ(
      run({"semaphore", "S", "-p", "1", "-w", "10s", "--dir", directory(), "--", "true"}).status,
      0);
}

// ---- rooms

TEST_F(LockTrust, ARoomRunsCommandsOfOneGroupTogether) {
  up(3);
  std::vector<pid_t> all;
  for (int i = 0; i < 9; ++i) {
    const bool writes = i % 3 == 0;
    Words words{"room", "data", "--dir", directory(), "--group", writes ? "write" : "read"};
    if (writes) words.insert(words.end(), {"--capacity", "1"});
    words.insert(words.end(), {"--", "sh", "-c",
                               "echo + $TURNO_GROUP $TURNO_FENCE >>inside; sleep 0.1; "
                               "echo - $TURNO_GROUP $TURNO_FENCE >>inside"});
    all.push_back(start(words, "command" + std::to_string(i)));
  }
  for (int i = 0; i < 9; ++i) {
    const auto name = "command" + std::to_string(i);
    EXPECT_EQ(finish(all[static_cast<std::size_t>(i)], name).status, 0) << contents(name);
  }
  std::istringstream lines(contents("inside"));
  std::string sign, group;
  std::uint64_t fence = 0;
  std::map<std::string, int> inside;
  std::set<std::uint64_t> fences;
  int entries = 0, most = 0;
  while (lines >> sign >> group >> fence) {
    if (sign == "-") {
      --inside[group];
      continue;
    }
    ++entries;
    most = std::max(most, ++inside[group]);
    EXPECT_TRUE(inside["read"] == 0 || inside["write"] == 0);
    EXPECT_LE(inside["write"], 1);
    EXPECT_GE(fence, fences.empty() ? 0 : *fences.rbegin());
    fences.insert(fence);
  }
  EXPECT_EQ(entries, 9);
  EXPECT_GT(most, 1) << "readers read together";
}

TEST_F(LockTrust, ARoomTellsWhatItCannotDo) {
  up(2);
  const auto room = [&](Words words) {
    words.insert(words.begin(), {"room", "data", "--dir", directory()});
    words.push_back("true");
    return run(words);
  };
  EXPECT_EQ(room({}).status, 64);
  EXPECT_EQ(room({"-g", "x", "-c", "70000"}).status, 64);
  const auto holder = start({"room", "data", "-g", "write", "-c", "1", "--dir", directory(), "--",
                             "sh", "-c", "echo $TURNO_ROOM $TURNO_GROUP >ready; sleep 60"},
                            "holder");
  ASSERT_TRUE(appears("ready"));
  EXPECT_EQ(contents("ready"), "data write\n");
  EXPECT_EQ(room({"-n", "-g", "read"}).status, 124);
  EXPECT_THAT(room({"-n", "-g", "read"}).output, HasSubstr("room 'data': 1 is inside"));
  EXPECT_EQ(room({"-w", "50ms", "-g", "write", "-E", "7"}).status, 7);
  EXPECT_THAT(room({"-g", "write", "-c", "2"}).output, HasSubstr("1 may be inside"));
  EXPECT_THAT(run({"why", "data", "--dir", directory()}).output,
              ::testing::AllOf(HasSubstr("In room 'data' 1 user is"),
                               HasSubstr("group write with turno-room/")));
  ::kill(holder, SIGTERM);
  EXPECT_EQ(finish(holder, "holder").status, 143);
  EXPECT_EQ(room({"-w", "10s", "-g", "read"}).status, 0);
}

// ---- reservations

TEST_F(LockTrust, AReservationRunsCommandsWithTheirResources) {
  up(2);
  const auto reserve = [&](Words words) {
    words.insert(words.begin(), {"reserve", "--dir", directory()});
    words.push_back("true");
    return run(words);
  };
  const auto holder = start({"reserve", "gpu:2/3,licence/1", "--dir", directory(), "--", "sh", "-c",
                             "echo $TURNO_STORE $TURNO_RESOURCES >ready; sleep 60"},
                            "holder");
  ASSERT_TRUE(appears("ready"));
  EXPECT_EQ(contents("ready"), "resources gpu:0,gpu:1,licence:0\n");
  EXPECT_EQ(reserve({"gpu"}).status, 0) << "one is left";
  EXPECT_THAT(reserve({"-n", "gpu:2"}).output,
              HasSubstr("gpu:2 of store 'resources': 3 resources are in use"));
  EXPECT_EQ(reserve({"-w", "50ms", "-E", "7", "licence"}).status, 7);
  EXPECT_THAT(reserve({"gpu:4"}).output, HasSubstr("has 3 of 'gpu', not 4"));
  for (const auto* wrong : {"gpu:0", "gpu:x", "gpu:3/2", "", ",", ":1", "gpu:1/2000"})
    EXPECT_EQ(reserve({wrong}).status, 64) << wrong;
  EXPECT_THAT(run({"why", "resources", "--dir", directory()}).output,
              ::testing::AllOf(HasSubstr("Of store 'resources' 3 resources are in use"),
                               HasSubstr("gpu:0, gpu:1, licence:0 held by turno-reserve/")));
  const auto waiter = start({"reserve", "licence,gpu", "--dir", directory(), "true"}, "waiter");
  while (run({"waiters", "resources", "--json", "--dir", directory()}).output.find("gpu:1") ==
         std::string::npos) {
  }
  ::kill(holder, SIGTERM);
  EXPECT_EQ(finish(holder, "holder").status, 143);
  EXPECT_EQ(finish(waiter, "waiter").status, 0);
}

}  // namespace
}  // namespace turno

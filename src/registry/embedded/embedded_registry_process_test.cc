// The embedded registry between real processes: who is killed, stopped, forked, and many at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "registry/embedded/embedded_registry.h"
#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A process that joins when told to, and answers each letter it is sent with a line.
class Process {
 public:
  Process(const fs::path& place, const std::string& name) {
    int orders[2];
    int answers[2];
    if (::pipe(orders) != 0 || ::pipe(answers) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(orders[1]);
      ::close(answers[0]);
      serve(place, name, orders[0], answers[1]);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    orders_ = orders[1];
    answers_ = answers[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    kill();
    ::close(orders_);
    ::close(answers_);
  }

  void order(char letter) const { EXPECT_EQ(::write(orders_, &letter, 1), 1); }
  [[nodiscard]] std::string answer() const {
    std::string line;
    for (char c = 0; ::read(answers_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  std::string ask(char letter) const {
    order(letter);
    return answer();
  }
  void signal(int number) const { ::kill(pid_, number); }
  void kill() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[noreturn]] static void serve(const fs::path& place, const std::string& name, int orders,
                                 int answers) {
    EmbeddedRegistry registry(place);
    char order = 0;
    while (::read(orders, &order, 1) == 1) {
      std::string line;
      if (order == 'j') line = summary(registry.join(member_named(name), running("nxr")));
      if (order == 'l') line = registry.leave() ? "left" : "not left";
      if (order == 'c') line = summary(registry.current());
      if (order == 'r') line = summary(registry.reconsider(false));
      if (order == 'f') line = std::to_string(fork_and_linger(registry));
      line += "\n";
      if (::write(answers, line.data(), line.size()) < 0) break;
    }
    ::_exit(0);
  }

  // A child that outlives its parent, without exec. It answers nothing, and lets go of the pipes.
  static pid_t fork_and_linger(EmbeddedRegistry& registry) {
    const auto child = ::fork();
    if (child != 0) return child;
    if (registry.current() || registry.reconsider(true) || registry.leave()) ::_exit(1);
    for (int descriptor = 3; descriptor < 64; ++descriptor) ::close(descriptor);
    ::pause();
    ::_exit(0);
  }

  pid_t pid_ = 0;
  int orders_ = -1;
  int answers_ = -1;
};

struct ProcessTest : testing::Test {
  TemporaryDirectory directory;
  fs::path place = directory.path();

  [[nodiscard]] std::size_t lock_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(place / "members"), {}));
  }
};

TEST_F(ProcessTest, AKilledMemberIsDropped) {
  Process a(place, "a");
  Process b(place, "b");
  Process c(place, "c");
  EXPECT_EQ(a.ask('j'), "a @ 1");
  EXPECT_EQ(b.ask('j'), "a b @ 2");
  EXPECT_EQ(c.ask('j'), "a b c @ 3");
  EXPECT_EQ(a.ask('r'), "a b c @ 3");
  b.kill();
  EXPECT_EQ(a.ask('r'), "a c @ 4 crashed");
  EXPECT_EQ(c.ask('c'), "a c @ 4 crashed");
  EXPECT_EQ(lock_files(), 2U);
}

TEST_F(ProcessTest, AStoppedMemberIsNotDead) {
  Process a(place, "a");
  Process b(place, "b");
  a.ask('j');
  b.ask('j');
  b.signal(SIGSTOP);
  ::waitpid(b.pid(), nullptr, WUNTRACED);
  EXPECT_EQ(a.ask('r'), "a b @ 2");
  b.signal(SIGCONT);
  EXPECT_EQ(b.ask('c'), "a b @ 2");
}

TEST_F(ProcessTest, AStoppedMemberMayBeKilled) {
  Process a(place, "a");
  Process b(place, "b");
  a.ask('j');
  b.ask('j');
  b.signal(SIGSTOP);
  ::waitpid(b.pid(), nullptr, WUNTRACED);
  b.kill();
  EXPECT_EQ(a.ask('r'), "a @ 3 crashed");
}

TEST_F(ProcessTest, TwoWhoLookAtOnceMakeOneView) {
  for (std::uint32_t round = 0; round < 5; ++round) {
    fs::remove_all(place);
    Process a(place, "a");
    Process b(place, "b");
    Process c(place, "c");
    a.ask('j');
    b.ask('j');
    c.ask('j');
    b.kill();
    a.order('r');
    c.order('r');
    EXPECT_EQ(a.answer(), "a c @ 4 crashed");
    EXPECT_EQ(c.answer(), "a c @ 4 crashed");
  }
}

TEST_F(ProcessTest, EightJoinAtOnce) {
  std::vector<std::unique_ptr<Process>> processes;
  processes.reserve(8);
  for (int i = 0; i < 8; ++i) {
    processes.push_back(std::make_unique<Process>(place, std::to_string(i)));
  }
  for (const auto& process : processes) process->order('j');
  std::vector<std::string> epochs;
  for (const auto& process : processes) {
    const auto answer = process->answer();
    epochs.push_back(answer.substr(answer.find('@')));
  }
  std::ranges::sort(epochs);
  EXPECT_THAT(epochs,
              ::testing::ElementsAre("@ 1", "@ 2", "@ 3", "@ 4", "@ 5", "@ 6", "@ 7", "@ 8"));
  const auto view = EmbeddedRegistry(place).current();
  ASSERT_TRUE(view);
  EXPECT_EQ(view->size(), 8U);
  EXPECT_EQ(view->epoch, 8U);
  EXPECT_FALSE(view->crashed);
  EXPECT_EQ(lock_files(), 8U);
}

TEST_F(ProcessTest, AForkedChildDoesNotKeepItsParentAlive) {
  Process a(place, "a");
  Process b(place, "b");
  a.ask('j');
  b.ask('j');
  const auto child = std::stoi(b.ask('f'));
  EXPECT_EQ(a.ask('r'), "a b @ 2");
  b.kill();
  // The child may not have run yet.
  auto view = a.ask('r');
  for (int i = 0; i < 1000 && view == "a b @ 2"; ++i) {
    ::usleep(1000);
    view = a.ask('r');
  }
  EXPECT_EQ(view, "a @ 3 crashed");
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
}

TEST_F(ProcessTest, TheNameOfTheDeadIsFreeAndThatOfTheLivingIsNot) {
  Process a(place, "a");
  a.ask('j');
  Process twin(place, "a");
  EXPECT_THAT(twin.ask('j'), HasSubstr("(pid " + std::to_string(a.pid()) + ")"));
  a.kill();
  EXPECT_EQ(twin.ask('j'), "a @ 2 crashed");
}

TEST_F(ProcessTest, EpochsGrowOverRestartsOfEverything) {
  {
    Process a(place, "a");
    EXPECT_EQ(a.ask('j'), "a @ 1");
    EXPECT_EQ(a.ask('l'), "left");
  }
  {
    Process a(place, "a");
    EXPECT_EQ(a.ask('j'), "a @ 3");
  }
  Process a(place, "a");
  EXPECT_EQ(a.ask('j'), "a @ 4 crashed");
  EXPECT_EQ(lock_files(), 1U);
}

TEST_F(ProcessTest, ADeadMemberWithoutItsFileIsDropped) {
  Process a(place, "a");
  Process b(place, "b");
  a.ask('j');
  b.ask('j');
  const auto id = EmbeddedRegistry(place).current()->members.back().id;
  fs::remove(place / "members" / (std::to_string(id) + ".lock"));
  EXPECT_EQ(a.ask('r'), "a b @ 2");
  b.kill();
  EXPECT_EQ(a.ask('r'), "a @ 3 crashed");
}

// Processes make views one after another and are killed at any moment, also inside a commit. What
// was answered stays: no epoch is made twice, none is lost, and the survivor goes on.
TEST_F(ProcessTest, KillsInsideChangesLoseNothing) {
  struct Record {
    std::atomic<std::uint32_t> highest;
    std::atomic<std::uint32_t> twice;
    std::atomic<std::uint8_t> made[1 << 16];
  };
  void* memory =
      ::mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& record = *new (memory) Record{};
  const auto start = [&](const std::string& name) {
    const auto pid = ::fork();
    if (pid != 0) return pid;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    EmbeddedRegistry registry(place);
    auto view = registry.join(member_named(name), running("nxr"));
    for (; view && view->epoch < 1 << 16; view = registry.reconsider(true)) {
      if (record.made[view->epoch].fetch_add(1) != 0) ++record.twice;
      auto highest = record.highest.load();
      while (highest < view->epoch && !record.highest.compare_exchange_weak(highest, view->epoch)) {
      }
      ::usleep(300);  // others want a turn
    }
    ::_exit(view ? 0 : 1);
  };
  EmbeddedRegistry survivor(place);
  ASSERT_TRUE(survivor.join(member_named("survivor"), running("nxr")));
  std::vector<pid_t> pids;
  pids.reserve(3);
  for (int i = 0; i < 3; ++i) pids.push_back(start(std::to_string(i)));
  Random random(42);
  for (int round = 0; round < 20; ++round) {
    ::usleep(static_cast<useconds_t>(random.below(30'000)));
    auto& pid = pids[random.below(3)];
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "a process ended by itself";
    const auto before = record.highest.load();
    const auto view = survivor.reconsider(false);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_GE(view->epoch, before);
    pid = start("again-" + std::to_string(round));
  }
  for (const auto pid : pids) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  const auto view = survivor.reconsider(false);
  ASSERT_TRUE(view);
  EXPECT_GE(view->epoch, record.highest);
  EXPECT_EQ(view->size(), 1U);
  EXPECT_EQ(record.twice, 0U);
  EXPECT_GT(record.highest, 20U);
  ASSERT_TRUE(survivor.reconsider(true));
  EXPECT_EQ(lock_files(), 1U);
  ::munmap(memory, sizeof(Record));
}

}  // namespace
}  // namespace turno::registry

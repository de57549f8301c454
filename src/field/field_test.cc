// Algorithms on real processes, and what judges them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "catalogue/catalogue.h"
#include "core/usage_error.h"
#include "field/causality.h"
#include "field/field_testing.h"
#include "field/run.h"
#include "field/stable.h"
#include "net/fd.h"
#include "protocols/deadlock/probes.h"
#include "protocols/kmutex/robust_k.h"

namespace turno::field {
namespace {

using ::testing::HasSubstr;
using testing::ms;
using testing::system;

TEST(Run, JudgesEveryAlgorithmOnRealProcesses) {
  for (const auto& algorithm : algorithms()) {
    const auto* cast = find_cast(algorithm.info.name);
    ASSERT_NE(cast, nullptr) << algorithm.info.name;
    const auto options = system(algorithm.info);
    const auto outcome = run(*cast, options, {.clocks = true});
    EXPECT_EQ(outcome.result.violation, "") << algorithm.info.name;
    EXPECT_EQ(outcome.processes, options.setup.size()) << algorithm.info.name;
    if (has_users(algorithm.info.primitive)) {
      EXPECT_EQ(outcome.result.entries, options.entries) << algorithm.info.name;
    }
    EXPECT_GT(outcome.result.messages, 0U) << algorithm.info.name;
  }
}

Outcome run_wrong(const std::string& name, const std::string& departure, sim::Options options,
                  const Plan& plan = {.patience_ns = 500 * ms}) {
  for (const auto& wrong : refutable())
    if (!wrong.published && wrong.algorithm->info.name == name &&
        wrong.departure->name == departure)
      options.setup.departure = wrong.number;
  EXPECT_NE(options.setup.departure, 0);
  return run(*find_cast(name), options, plan);
}

TEST(Run, CatchesAWrongVersion) {
  auto options = system(find_algorithm("k-out-of-m")->info);
  options.setup.permits = 1;
  options.entries = 1000;
  // Two at once, or one after the other in the wrong order: as it happens.
  EXPECT_THAT(run_wrong("k-out-of-m", "all-replies", options).result.violation,
              ::testing::AnyOf(HasSubstr("in use at once"), HasSubstr("is granted after fence")));
  EXPECT_THAT(run_wrong("k-out-of-m", "tie-silence", options).result.violation,
              HasSubstr("nobody gets in any more"));
}

TEST(Run, ScalesTime) {
  auto options = system(find_algorithm("central")->info);
  options.arrivals = sim::parse_arrivals("closed:400ms");
  options.delay = sim::Distribution::constant(100 * ms);
  options.entries = 20;
  const auto outcome = run(*find_cast("central"), options, {.scale = 0.02});
  EXPECT_EQ(outcome.result.violation, "");
  EXPECT_GT(outcome.result.simulated_seconds, 1.5);
  EXPECT_LT(outcome.real_seconds, 1.0);
}

TEST(Run, SharesProcessesAmongManyNodes) {
  const auto& info = find_algorithm("naimi-trehel")->info;
  auto options = system(info);
  options.setup = make_setup(info, {.nodes = 20});
  const auto outcome = run(*find_cast("naimi-trehel"), options, {.processes = 3, .clocks = true});
  EXPECT_EQ(outcome.result.violation, "");
  EXPECT_EQ(outcome.processes, 3U);
  options.faults.crashes = {{1 * ms, NodeId{1}}};
  EXPECT_THROW(run(*find_cast("naimi-trehel"), options, {.processes = 3}), UsageError);
}

TEST(Run, EndsWhenAllHaveEnteredAndNothingIsLeft) {
  auto options = system(find_algorithm("grid")->info);
  options.entries_per_node = 4;
  const auto outcome = run(*find_cast("grid"), options, {});
  EXPECT_EQ(outcome.result.violation, "");
  EXPECT_EQ(outcome.result.entries, 20U);
  EXPECT_TRUE(outcome.result.logical.measured);
}

// A semaphore that finds the dead by itself. A process that is woken late enough is taken for dead,
// and then nothing is promised: on a busy machine only a run in which that did not happen counts.
sim::Result run_robust(const sim::Options& given) {
  auto options = given;
  auto& config = options.setup.configure<protocols::RobustK::Config>();
  config.detector = protocols::Detector::hi_adsd;
  config.test_every_ns = 100 * ms;
  config.test_timeout_ns = 80 * ms;
  config.acknowledge_within_ns = 100 * ms;
  options.entries = 1'000'000;
  sim::Result result;
  for (options.seed = 1; options.seed <= 5; ++options.seed) {
    result = run(*find_cast("robust-k"), options, {}).result;
    if (result.violation.empty()) break;
  }
  return result;
}

TEST(Run, GoesOnAfterKills) {
  auto options = system(find_algorithm("robust-k")->info);
  options.faults.crashes = {{100 * ms, NodeId{4}}, {200 * ms, NodeId{3}}, {300 * ms, NodeId{2}}};
  options.until = 1'400 * ms;
  options.interval = 700 * ms;
  const auto result = run_robust(options);
  EXPECT_EQ(result.violation, "");
  ASSERT_EQ(result.entries_by_interval.size(), 2U);
  EXPECT_GT(result.entries_by_interval[1], 0U);
  EXPECT_GT(result.suspicions, 0U);
}

TEST(Run, ServesTheLastNodeWhenAllOthersAreKilled) {
  auto options = system(find_algorithm("robust-k")->info);
  for (std::uint32_t i = 1; i < 5; ++i)
    options.faults.crashes.push_back({i * 100 * ms, NodeId{5 - i}});
  options.until = 2'400 * ms;
  std::uint64_t alone = 0;
  std::set<NodeId> served;
  options.trace = [&](const TraceStep& step) {
    if (step.entered) served.insert(step.node);
    if (step.entered && step.time_ns > 1'800 * ms) ++alone;
  };
  const auto result = run_robust(options);
  EXPECT_EQ(result.violation, "");
  EXPECT_GT(served.size(), 1U) << "before they were killed";
  EXPECT_GT(alone, 0U) << "entries of the last one, as only it lives";
  EXPECT_GT(result.suspicions, 0U);
}

TEST(Run, ComesBackWithWhatIsOnStableStorage) {
  for (const auto* name : {"bully", "ring"}) {
    auto options = system(find_algorithm(name)->info);
    options.faults.recoveries = {{500 * ms, NodeId{4}}};
    options.until = 1000 * ms;
    std::vector<std::string> lines;
    options.trace = [&](const TraceStep& step) { lines.push_back(json_line(step)); };
    const auto result = run(*find_cast(name), options, {}).result;
    EXPECT_EQ(result.violation, "") << name;
    EXPECT_EQ(result.settlings, 2U) << name;
    EXPECT_THAT(lines, ::testing::Contains(HasSubstr("\"event\":\"recover\",\"node\":4"))) << name;
  }
}

TEST(Run, FindsARealDeadlock) {
  auto options = system(find_algorithm("probes")->info);
  options.setup.configure<protocols::Probes::Config>() = {.waits = 3};
  std::uint64_t found = 0;
  for (options.seed = 1; options.seed <= 5 && found == 0; ++options.seed) {
    const auto result = run(*find_cast("probes"), options, {}).result;
    EXPECT_EQ(result.violation, "");
    found = result.deadlocked;
  }
  EXPECT_GT(found, 0U);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                   "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}
bool lives(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return in >> number >> name >> state && state != "Z" && state != "X";
}

TEST(Run, LeavesNoProcessBehindWhenItsParentIsKilled) {
  auto options = system(find_algorithm("central")->info);
  options.entries = 1'000'000;
  const auto parent = ::fork();
  if (parent == 0) {
    run(*find_cast("central"), options, {});
    ::_exit(0);
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 200 && children.size() < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    children = children_of(parent);
  }
  ASSERT_EQ(children.size(), 5U);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  const auto any = [&] { return std::any_of(children.begin(), children.end(), lives); };
  for (int i = 0; i < 200 && any(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(any());
}

Record entry(NodeId node, Time time, std::uint64_t count) {
  return {.time = time, .node = node, .kind = EventKind::receive, .fence = Fence::at(1, count)};
}
Record exit(NodeId node, Time time) {
  return {.time = time, .node = node, .kind = EventKind::release};
}

TEST(Judge, SeesTwoInsideInTheOrderOfTime) {
  const auto options = system(find_algorithm("central")->info);
  const NodeId a{0}, b{1};
  const auto verdict_of = [&](const std::vector<Record>& records) {
    return judge(*find_cast("central"), options, records).result.violation;
  };
  EXPECT_EQ(verdict_of({entry(a, 1, 1), exit(a, 5), entry(b, 6, 2), exit(b, 9)}), "");
  EXPECT_EQ(verdict_of({entry(a, 1, 1), exit(a, 5), entry(b, 4, 2), exit(b, 9)}),
            "two nodes are inside at once");
  EXPECT_THAT(verdict_of({entry(a, 1, 2), exit(a, 5), entry(b, 6, 1), exit(b, 9)}),
              HasSubstr("is granted after fence"));
}

TEST(Causality, IsAskedWhereThereIsNoCommonClock) {
  const auto setup = make_setup(find_algorithm("central")->info, {.nodes = 2});
  const NodeId a{0}, b{1};
  std::vector<Record> records = {entry(a, 1, 1), exit(a, 2), entry(b, 3, 2), exit(b, 4)};
  VectorClock of_a(2), of_b(2);
  for (std::size_t i = 0; i < 2; ++i) {
    of_a.tick(a);
    records[i].clock = of_a;
  }
  auto told = of_b;
  told.observe(of_a);
  for (std::size_t i = 2; i < 4; ++i) {
    told.tick(b);
    records[i].clock = told;
  }
  EXPECT_EQ(unordered_entries(Primitive::lock, setup, records), "");
  for (std::size_t i = 2; i < 4; ++i) {
    of_b.tick(b);
    records[i].clock = of_b;
  }
  EXPECT_THAT(unordered_entries(Primitive::lock, setup, records),
              HasSubstr("cannot know that node 0 has left"));
}

TEST(Causality, OrdersWhatClocksOrderWrongly) {
  const NodeId a{0}, b{1};
  Record sends{.time = 100, .node = a, .kind = EventKind::request};
  sends.sends.push_back({.to = b});
  const Record takes{.time = 90, .node = b, .kind = EventKind::receive, .from = a, .message = 1};
  const Record follows{.time = 95, .node = b, .kind = EventKind::release};
  const auto [ordered, violation] = in_causal_order({takes, follows, sends}, 2);
  EXPECT_EQ(violation, "");
  ASSERT_EQ(ordered.size(), 3U);
  EXPECT_EQ(ordered[0].node, a);
  EXPECT_EQ(ordered[1].kind, EventKind::receive);
  EXPECT_EQ(ordered[1].time, 101);
  EXPECT_EQ(ordered[2].time, 101);
}

TEST(Causality, MissesNoCauseInSilence) {
  const NodeId a{0}, b{1};
  const Record begins{.time = 10, .node = a, .kind = EventKind::request};
  const Record takes{.time = 90, .node = b, .kind = EventKind::receive, .from = a, .message = 1};
  const auto [ordered, violation] = in_causal_order({begins, takes}, 2);
  EXPECT_EQ(ordered.size(), 1U);
  EXPECT_EQ(violation, "node 1 received a message of node 0 that nobody wrote down as sent");
}

TEST(StableStorage, KeepsTheLastThatIsWholeHoweverLong) {
  const net::Fd file(::memfd_create("stable", MFD_CLOEXEC));
  EXPECT_EQ(last_stable(file.get()), "");
  keep_stable(file.get(), "short");
  const std::string large(100'000, 'x');
  keep_stable(file.get(), large);
  EXPECT_EQ(last_stable(file.get()), large);
  // Killed in the middle of the next.
  const auto end = ::lseek(file.get(), 0, SEEK_END);
  keep_stable(file.get(), std::string(5'000, 'y'));
  ASSERT_EQ(::ftruncate(file.get(), end + 1'000), 0);
  EXPECT_EQ(last_stable(file.get()), large);
  keep_stable(file.get(), "after it came back");
  EXPECT_EQ(last_stable(file.get()), "after it came back");
}

TEST(Records, AreReadAsTheyWereWritten) {
  Record record{.time = 7, .lag = 3, .node = NodeId{2}, .kind = EventKind::request};
  record.sends = {{.to = NodeId{1},
                   .kind = 4,
                   .carries = Carries::payment,
                   .preempts = true,
                   .delay = 99,
                   .bytes = "abc"}};
  record.wish = {.group = 3, .needs = {{1, 2}}};
  record.since = 5;
  record.fence = Fence::at(2, 9);
  record.units = {{6, Fence::at(2, 9)}};
  record.suspicions = {NodeId{4}};
  record.state = "state";
  std::string bytes;
  write(record, bytes);
  write({.time = 8, .node = NodeId{2}, .lost = true}, bytes);
  const auto read = read_records(bytes + std::string("\x40\0\0\0cut off", 11));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].time, 7);
  EXPECT_EQ(read[0].wish, record.wish);
  EXPECT_EQ(read[0].fence, record.fence);
  EXPECT_EQ(read[0].units, record.units);
  EXPECT_EQ(read[0].suspicions, record.suspicions);
  EXPECT_EQ(read[0].state, "state");
  ASSERT_EQ(read[0].sends.size(), 1U);
  EXPECT_EQ(read[0].sends[0].carries, Carries::payment);
  EXPECT_TRUE(read[0].sends[0].preempts);
  EXPECT_EQ(read[0].sends[0].bytes, "abc");
  EXPECT_TRUE(read[1].lost);
}

}  // namespace
}  // namespace turno::field

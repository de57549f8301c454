// How soon a circle of two and of five sessions at as many nodes is resolved, under each policy, so
// that all get what they want.
//
// In under a second, on a machine that has nothing else to do: of three attempts one must be, and
// the others must end all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::node {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Circle : public testing::TestWithParam<std::size_t> {
 protected:
  explicit Circle(DeadlockPolicy policy)
      : cluster_(GetParam(), [policy](Settings& settings) {
          settings.declarations.declare_deadlocks(policy);
        }) {}

  // All but the last close their part of the circle: session i has lock i and wants the next one.
  void begin() {
    callers_.clear();
    for (std::size_t i = 0; i < size(); ++i)
      callers_.emplace_back(cluster_[i].self().client_address);
    for (std::size_t i = 0; i < size(); ++i) callers_[i].lock(name(i));
  }
  [[nodiscard]] std::string name(std::size_t i) const {
    return "lock-" + std::to_string(i % size());
  }
  [[nodiscard]] static std::size_t size() { return GetParam(); }
  void want_next(std::size_t i) { callers_[i].send("LOCK " + name(i + 1)); }
  void give_back(std::size_t i) {
    callers_[i].ask("UNLOCK " + name(i));
    callers_[i].ask("UNLOCK " + name(i + 1));
  }
  // From the one that gives way on backwards, each gets what it waits for and gives all back.
  void serve_all_but(std::size_t first) {
    callers_[first].ask("UNLOCK " + name(first));
    for (std::size_t k = 1; k < size(); ++k) {
      const auto next = (first + size() - k) % size();
      EXPECT_THAT(callers_[next].read_text(), Not(StartsWith("-")));
      give_back(next);
    }
  }
  // Who gave way begins again.
  void serve(std::size_t who) {
    auto names = std::vector{name(who), name(who + 1)};
    std::sort(names.begin(), names.end());
    for (const auto& wanted : names)
      EXPECT_THAT(callers_[who].ask("LOCK " + wanted), Not(StartsWith("-")));
    give_back(who);
  }
  template <class Count>
  std::uint64_t sum(Count count) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < size(); ++i)
      all += cluster_[i].run([&] { return (cluster_[i].deadlocks().*count)(); });
    return all;
  }

  // `resolve` begins when the circle is about to be closed.
  template <class Resolve>
  void expect_in_time(Resolve resolve) {
    auto best = Steady::duration::max();
    for (int attempt = 0; attempt < 3 && best >= 1s; ++attempt) {
      begin();
      const auto closed = Steady::now();
      resolve();
      best = std::min(best, Steady::now() - closed);
      for (auto& caller : callers_) caller.hang_up();
    }
    EXPECT_LT(best, 1s);
  }

  TestCluster cluster_;
  std::vector<Caller> callers_;
};

struct DetectedCircle : Circle {
  DetectedCircle() : Circle(DeadlockPolicy::detect) {}
};
TEST_P(DetectedCircle, IsReportedInTime) {
  std::uint64_t before = 0;
  expect_in_time([&] {
    for (std::size_t i = 0; i < size(); ++i) want_next(i);
    EXPECT_TRUE(net::eventually([&] { return sum(&DeadlockWatch::found) == before + 1; }));
    ++before;
    for (auto& caller : callers_) EXPECT_TRUE(caller.is_silent(0ms)) << "nobody is told";
  });
}

struct AbortedCircle : Circle {
  AbortedCircle() : Circle(DeadlockPolicy::abort) {}
};
TEST_P(AbortedCircle, IsEndedInTimeAndAllAreServed) {
  expect_in_time([&] {
    const auto before = sum(&DeadlockWatch::aborted);
    for (std::size_t i = 0; i < size(); ++i) want_next(i);
    std::size_t told = size();
    ASSERT_TRUE(net::eventually([&] {
      for (std::size_t i = 0; i < size(); ++i)
        if (!callers_[i].is_silent(0ms)) told = i;
      return told < size();
    }));
    EXPECT_THAT(callers_[told].read_text(), StartsWith("-DEADLOCK"));
    serve_all_but(told);
    serve(told);
    EXPECT_EQ(sum(&DeadlockWatch::aborted), before + 1);
  });
}

struct OrderedCircle : Circle {
  OrderedCircle() : Circle(DeadlockPolicy::ordered) {}
};
TEST_P(OrderedCircle, IsRefusedAndAllAreServedInTime) {
  expect_in_time([&] {
    const auto last = size() - 1;
    for (std::size_t i = 0; i < last; ++i) want_next(i);
    EXPECT_THAT(callers_[last].ask("LOCK " + name(0)), StartsWith("-DEADLOCK"));
    serve_all_but(last);
    serve(last);
    EXPECT_EQ(sum(&DeadlockWatch::found), 0U) << "there never was one";
  });
}

struct CollectiveCircle : Circle {
  CollectiveCircle() : Circle(DeadlockPolicy::collective) {}
};
TEST_P(CollectiveCircle, IsRefusedAndAllAreServedInTime) {
  expect_in_time([&] {
    for (std::size_t i = 0; i < size(); ++i)
      EXPECT_THAT(callers_[i].ask("LOCK " + name(i + 1)), StartsWith("-DEADLOCK"));
    for (std::size_t i = 0; i < size(); ++i) give_back(i);
    // All at once: two disks, of which a neighbour wants one, too.
    const auto disk = [](std::size_t i) { return "disk-" + std::to_string(i % size()) + ":1/1"; };
    for (std::size_t i = 0; i < size(); ++i)
      callers_[i].send("RESERVE " + disk(i) + " " + disk(i + 1));
    std::vector<bool> served(size());
    EXPECT_TRUE(net::eventually([&] {
      for (std::size_t i = 0; i < size(); ++i) {
        if (served[i] || callers_[i].is_silent(0ms)) continue;
        served[i] = true;
        EXPECT_THAT(callers_[i].read_text(), HasSubstr("disk-"));
        EXPECT_EQ(callers_[i].ask("RETURN"), "2");
      }
      return std::count(served.begin(), served.end(), false) == 0;
    }));
  });
}

const auto two_and_five = testing::Values(2, 5);
INSTANTIATE_TEST_SUITE_P(OfSessions, DetectedCircle, two_and_five);
INSTANTIATE_TEST_SUITE_P(OfSessions, AbortedCircle, two_and_five);
INSTANTIATE_TEST_SUITE_P(OfSessions, OrderedCircle, two_and_five);
INSTANTIATE_TEST_SUITE_P(OfSessions, CollectiveCircle, two_and_five);

}  // namespace
}  // namespace turno::node

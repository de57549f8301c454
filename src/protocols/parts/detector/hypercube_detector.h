// A failure detector on the hypercube (Hi-ADSD: Duarte Jr. and Nanya 1998; VCube: Duarte Jr., Bona
// and Ruoso 2014), as a value that protocols contain. It sends nothing itself: it reports whom to
// test and who has crashed, and is told of answers and of time.
//
// In each round a node goes through its clusters, the smallest first.
//   Hi-ADSD  tests the members in order until one answers, and learns from it about that cluster.
//   VCube    tests each member whose first trusted node in that cluster it is itself, all at once,
//            and learns from each answer about everybody. (Learning about the cluster only would
//            leave crashes unnoticed.)
// Who does not answer in time has crashed: delays are bounded, so a suspicion is true.
//
// Without crashes log2 N tests a node and round. All know of all crashes after log2 N rounds
// (tested for every crash set of 8 and 16 nodes). If many are dead a node makes up to N-1 tests
// with Hi-ADSD; with VCube all nodes together make N log2 N at most.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/setup.h"
#include "protocols/parts/detector/event_counters.h"
#include "protocols/parts/detector/hypercube.h"

namespace turno::protocols {

// What comes of one step.
struct DetectorReport {
  boost::container::small_vector<NodeId, 4> tests;    // whom to ask for a sign of life
  boost::container::small_vector<NodeId, 4> crashes;  // news, each told once
};

// How nodes notice crashes. `told`: from outside (an agreed view, or the checker).
enum class Detector : std::uint8_t { told, hi_adsd, vcube };

class HypercubeDetector {
 public:
  HypercubeDetector() = default;
  HypercubeDetector(std::size_t nodes, NodeId self, Detector rule)
      : self_(self), cube_(nodes), rule_(rule) {}

  [[nodiscard]] const EventCounters& news() const { return news_; }
  [[nodiscard]] const NodeSet& suspects() const { return news_.suspects(); }
  [[nodiscard]] bool suspects(NodeId node) const { return news_.suspects(node); }
  // Tests are out: after the time in which they must be answered, `expire` is due.
  [[nodiscard]] bool waits() const { return !awaited_.empty(); }
  [[nodiscard]] bool testing() const { return cluster_ > 0; }
  // Goes with a test and comes back with its answer.
  [[nodiscard]] std::uint32_t test() const { return test_; }

  // Somebody else knows of a crash.
  void suspect(NodeId node, DetectorReport& report) {
    if (node != self_ && news_.suspect(node)) report.crashes.push_back(node);
  }
  // A new round. One that still runs is finished first: it goes on.
  void begin_round(DetectorReport& report) {
    if (testing()) return;
    cluster_ = 1;
    place_ = 0;
    go_on(report);
  }
  void answer(NodeId from, std::uint32_t test, const EventCounters& theirs,
              DetectorReport& report) {
    if (test != test_ || !awaited_.contains(from)) return;
    awaited_.erase(from);
    merge(theirs, report);
    if (waits()) return;
    next_cluster();
    go_on(report);
  }
  // The tests that are out have not been answered in time.
  void expire(DetectorReport& report) {
    if (!waits()) return;
    awaited_.for_each([&](NodeId silent) { suspect(silent, report); });
    awaited_.clear();
    if (rule_ == Detector::vcube) next_cluster();
    go_on(report);
  }

  [[nodiscard]] auto fields() const { return std::tie(news_, cluster_, place_, test_, awaited_); }
  bool operator==(const HypercubeDetector& other) const { return fields() == other.fields(); }

 private:
  // Sends the next tests of the round, if there are any.
  void go_on(DetectorReport& report) {
    for (; cluster_ > 0 && cluster_ <= cube_.clusters(); next_cluster()) {
      rule_ == Detector::vcube ? choose_all() : choose_next();
      if (!waits()) continue;
      ++test_;
      awaited_.for_each([&](NodeId node) { report.tests.push_back(node); });
      return;
    }
    cluster_ = 0;
    place_ = 0;
  }
  void next_cluster() {
    ++cluster_;
    place_ = 0;
  }
  // Those already suspected are tested like the others: it is how one learns that a cluster is
  // dead.
  void choose_next() {
    while (place_ < Hypercube::places(cluster_)) {
      const auto node = cube_.at(self_, cluster_, place_++);
      if (node == nobody) continue;
      awaited_.insert(node);
      return;
    }
  }
  void choose_all() {
    for (std::uint32_t place = 0; place < Hypercube::places(cluster_); ++place) {
      const auto node = cube_.at(self_, cluster_, place);
      if (node != nobody && tester_of(node) == self_) awaited_.insert(node);
    }
  }
  [[nodiscard]] NodeId tester_of(NodeId node) const {
    return cube_.first(node, cluster_, [&](NodeId other) { return !suspects(other); });
  }
  void merge(const EventCounters& theirs, DetectorReport& report) {
    for (std::size_t i = 0; i < theirs.known(); ++i) {
      const NodeId node{i};
      if (node == self_) continue;
      if (rule_ == Detector::hi_adsd && Hypercube::cluster_of(self_, node) != cluster_) continue;
      if (news_.learn(node, theirs.of(node))) report.crashes.push_back(node);
    }
  }

  NodeId self_;
  Hypercube cube_;
  Detector rule_ = Detector::told;
  EventCounters news_;
  std::uint8_t cluster_ = 0;  // of the running round; 0: it rests
  std::uint32_t place_ = 0;   // Hi-ADSD: the next to be tested
  std::uint32_t test_ = 0;    // counts the tests, so that a late answer is recognised
  NodeSet awaited_;
};

}  // namespace turno::protocols

// For tests: nodes that detect crashes in rounds, all at once, without a network. Who is asked
// hands over what it knew when the round began.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "protocols/parts/detector/hypercube_detector.h"

namespace turno::testing {

using namespace protocols;

class DetectorRounds {
 public:
  DetectorRounds(std::size_t nodes, Detector rule) : size_(nodes) {
    for (std::size_t i = 0; i < nodes; ++i) nodes_.emplace_back(nodes, NodeId{i}, rule);
  }

  void crash(std::uint32_t set) { dead_ |= set; }
  [[nodiscard]] bool alive(std::size_t node) const { return ((dead_ >> node) & 1U) == 0; }
  [[nodiscard]] const HypercubeDetector& operator[](std::size_t node) const { return nodes_[node]; }
  // All that live suspect exactly the dead.
  [[nodiscard]] bool complete() const {
    for (std::size_t i = 0; i < size_; ++i)
      if (alive(i) && suspects_of(i) != dead_) return false;
    return true;
  }
  [[nodiscard]] bool accurate() const {
    for (std::size_t i = 0; i < size_; ++i)
      if (alive(i) && (suspects_of(i) & ~dead_) != 0) return false;
    return true;
  }
  // Says how many tests there were.
  std::size_t round() {
    before_ = nodes_;
    std::size_t tests = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (alive(i)) tests += round_of(nodes_[i]);
    return tests;
  }
  // Rounds until all know all, at most so many; the most tests in one of them.
  struct Outcome {
    int rounds = 0;
    std::size_t tests = 0;
  };
  Outcome settle(int limit) {
    Outcome outcome;
    while (!complete() && outcome.rounds < limit) {
      ++outcome.rounds;
      outcome.tests = std::max(outcome.tests, round());
    }
    return outcome;
  }

 private:
  std::size_t round_of(HypercubeDetector& node) {
    std::size_t tests = 0;
    DetectorReport report;
    node.begin_round(report);
    while (node.waits()) {
      const auto asked = report.tests;
      const auto test = node.test();
      report = {};
      tests += asked.size();
      for (auto other : asked)
        if (alive(other.index())) node.answer(other, test, before_[other.index()].news(), report);
      if (node.waits() && node.test() == test) node.expire(report);
    }
    return tests;
  }
  [[nodiscard]] std::uint32_t suspects_of(std::size_t node) const {
    std::uint32_t set = 0;
    nodes_[node].suspects().for_each_word(
        [&](std::uint64_t word) { set |= static_cast<std::uint32_t>(word); });
    return set;
  }

  std::size_t size_;
  std::vector<HypercubeDetector> nodes_, before_;
  std::uint32_t dead_ = 0;
};

}  // namespace turno::testing

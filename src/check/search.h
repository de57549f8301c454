// The part of an exploration that does not depend on the protocol: which worlds were found and from
// where, what was found wrong, what must have been seen, when to give up, and the judgement on
// infinite runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check/fingerprint_table.h"
#include "check/graph.h"
#include "check/options.h"
#include "core/demand.h"

namespace turno::check {

class Search {
 public:
  using World = std::uint32_t;
  using Edge = std::uint16_t;  // which of a world's actions
  static constexpr World no_world = 0xffffffff;
  static constexpr Edge no_edge = 0xffff;

  explicit Search(const Options& options) : options_(options) {}

 protected:
  // Something wrong: in a world, or in one action of it.
  struct Finding {
    std::string property, explanation;
    World world = no_world;
    Edge edge = no_edge;
  };
  // What a judgement of a world needs to know of it.
  struct Census {
    std::size_t inside = 0, waiting = 0;
    std::uint32_t who_waits = 0;  // as bits
    bool all_served = true;
  };
  // What must happen somewhere, or the properties hold emptily.
  struct Witnessed {
    bool inside = false, two_inside = false, two_waiting = false, token_travels = false;
    bool first_grant = false, second_grant = false;
  };
  struct Origin {
    World world;  // from which it was first reached
    Edge edge;    // by which of its actions
  };

  // Enters a world reached by an edge of another (of no_world: a first one, with this number).
  void add_world(World from, Edge edge, const Census& census);

  void found(Finding finding);
  // The same, for the world with this number: shown by the action that first led there.
  void found_in(World world, std::string property, std::string_view explanation);

  void judge_infinite_runs(bool has_users);
  void judge_witnesses(Primitive primitive, bool has_token);
  void report();
  bool within_limits(std::size_t expanded, std::size_t frontier_bytes);
  // The actions from the first world to the finding.
  [[nodiscard]] std::vector<Edge> path_to_finding() const;
  // Which of the first worlds that is.
  [[nodiscard]] std::size_t start_of_finding() const;
  [[nodiscard]] std::uint64_t bytes() const;

  const Options options_;
  FingerprintTable table_;
  Graph graph_;
  World next_level_ = 0;  // the first world of the next level
  bool graded_ = true;    // every transition leads to the next level
  Witnessed witnessed_;
  Graph::FairCycle cycle_;  // on which somebody starves
  Finding finding_;
  Result result_;

 private:
  void judge_starvation();
  [[nodiscard]] bool considered(std::string_view property) const;
  void fail(Finding finding);
  [[nodiscard]] bool two_may_be_inside(Primitive primitive) const;

  std::vector<Origin> origins_;
  std::vector<std::uint32_t> who_waits_;  // forever: in each world, as bits
  std::vector<std::uint8_t> served_;      // whether everybody is served in each world
};

}  // namespace turno::check

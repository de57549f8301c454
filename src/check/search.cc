#include "check/search.h"

#include <algorithm>

namespace turno::check {

void Search::add_world(World from, Edge edge, const Census& census) {
  origins_.push_back({from, edge});
  served_.push_back(census.all_served ? 1 : 0);
  if (options_.forever) who_waits_.push_back(census.who_waits);
  witnessed_.inside |= census.inside > 0;
  witnessed_.two_inside |= census.inside > 1;
  witnessed_.two_waiting |= census.waiting > 1;
}

void Search::found(Finding finding) {
  if (!considered(finding.property)) return;
  // The first one found is a shortest one, except that a deadlock shows one step later than it is
  // there: the rest of the level may still have one.
  const bool earlier = finding.edge == no_edge && finding_.edge != no_edge;
  if (finding_.property.empty() || (finding.property == "deadlock" && earlier))
    finding_ = std::move(finding);
}

void Search::found_in(World world, std::string property, std::string_view explanation) {
  const auto& origin = origins_[world];
  found({std::move(property), std::string(explanation), origin.world, origin.edge});
}

void Search::judge_infinite_runs(bool has_users) {
  if (options_.forever) return judge_starvation();
  result_.acyclic = graded_ || graph_.acyclic();
  if (options_.count_messages) result_.messages = graph_.costs();
  if (result_.acyclic || !considered("trap")) return;
  if (const auto trap = graph_.trap(served_))
    fail({"trap",
          has_users ? "from here on, not everybody can be served"
                    : "from here on, the goal cannot be met",
          *trap});
}

void Search::judge_starvation() {
  if (!considered("starvation")) return;
  for (std::size_t i = 0; i < options_.setup.size(); ++i) {
    std::vector<std::uint8_t> waits(who_waits_.size());
    for (std::size_t w = 0; w < waits.size(); ++w) waits[w] = (who_waits_[w] >> i) & 1U;
    auto cycle = graph_.fair_cycle(waits);
    if (!cycle) continue;
    result_.cycle_states = cycle->component;
    cycle_ = std::move(*cycle);
    fail({"starvation", "node " + std::to_string(i) + " waits while the last steps repeat for ever",
          cycle_.worlds.front()});
    return;
  }
}

// Whether the wishes allow it: two of one group, or more permits than one.
bool Search::two_may_be_inside(Primitive primitive) const {
  if (primitive == Primitive::semaphore) {
    // The smallest requests of the two nodes that have the smallest.
    std::vector<std::uint32_t> least(2, options_.scripts.empty() ? 1 : options_.setup.permits);
    for (const auto& script : options_.scripts) {
      auto most_modest = options_.setup.permits;
      for (const auto& wish : script) most_modest = std::min(most_modest, wish.demand().permits());
      if (!script.empty()) least.push_back(most_modest);
    }
    std::sort(least.begin(), least.end());
    return least[0] + least[1] <= options_.setup.permits;
  }
  if (primitive != Primitive::room) return false;
  const auto& capacity = options_.setup.room.capacity;
  std::vector<std::uint32_t> groups;  // of each script, once
  for (const auto& script : options_.scripts) {
    std::vector<std::uint32_t> own;
    own.reserve(script.size());
    for (const auto& wish : script) own.push_back(wish.group);
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (auto group : own) {
      const bool several = group >= capacity.size() || capacity[group] > 1;
      if (several && std::find(groups.begin(), groups.end(), group) != groups.end()) return true;
      groups.push_back(group);
    }
  }
  return false;
}

void Search::judge_witnesses(Primitive primitive, bool has_token) {
  if (!has_users(primitive)) return;
  std::string_view missing;
  std::size_t askers =
      options_.requesters.empty() ? options_.setup.size() : options_.requesters.size();
  if (!options_.scripts.empty()) {
    askers = 0;
    for (const auto& script : options_.scripts) askers += script.empty() ? 0 : 1;
  }
  const bool lock = primitive == Primitive::lock;
  if (!witnessed_.inside) {
    missing = "nobody ever gets in";
  } else if (askers > 1 && two_may_be_inside(primitive) && !witnessed_.two_inside) {
    missing = "two are never inside together";
  } else if (askers > 1 && lock && !witnessed_.two_waiting) {
    missing = "two never wait at once";
  } else if (askers > 1 && !options_.staying && !witnessed_.second_grant) {
    missing = "no second grant ever happens";
  } else if (askers > 1 && has_token && !witnessed_.token_travels) {
    missing = "the token never travels";
  }
  if (!missing.empty() && considered("sometimes")) fail({"sometimes", std::string(missing), 0});
}

bool Search::considered(std::string_view property) const {
  return options_.property.empty() || options_.property == property;
}

void Search::fail(Finding finding) {
  finding_ = std::move(finding);
  report();
}

void Search::report() {
  result_.verdict = Verdict::violated;
  result_.property = finding_.property;
  result_.explanation = finding_.explanation;
}

std::uint64_t Search::bytes() const {
  return table_.bytes() + graph_.bytes() + origins_.capacity() * sizeof(Origin) +
         who_waits_.capacity() * 4 + served_.capacity();
}

bool Search::within_limits(std::size_t expanded, std::size_t frontier_bytes) {
  if (options_.progress)
    options_.progress({table_.size(), table_.size() - expanded, result_.depth});
  const auto total = bytes() + frontier_bytes;
  const bool many = table_.size() > options_.max_states;
  const bool large = total > options_.max_bytes;
  if (!many && !large) return true;
  result_.verdict = Verdict::limit;
  result_.property = many ? "max-states" : "memory";
  result_.explanation = "stopped after " + (many ? std::to_string(table_.size()) + " states"
                                                 : std::to_string(total >> 20) + " MiB");
  return false;
}

std::vector<Search::Edge> Search::path_to_finding() const {
  std::vector<Edge> edges;
  if (finding_.world == no_world) return edges;  // broken from the start
  if (finding_.edge != no_edge) edges.push_back(finding_.edge);
  for (auto world = finding_.world; origins_[world].world != no_world;
       world = origins_[world].world)
    edges.push_back(origins_[world].edge);
  std::reverse(edges.begin(), edges.end());
  return edges;
}

std::size_t Search::start_of_finding() const {
  if (finding_.world == no_world) return 0;
  auto world = finding_.world;
  while (origins_[world].world != no_world) world = origins_[world].world;
  return origins_[world].edge;
}

}  // namespace turno::check

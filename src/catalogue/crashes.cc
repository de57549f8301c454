#include "catalogue/crashes.h"

#include <algorithm>
#include <map>
#include <string>

#include "catalogue/system.h"
#include "catalogue/text.h"

namespace turno {

namespace {

NodeId one_node(std::string_view text, std::uint64_t nodes) {
  const auto parsed = parse_nodes(text, nodes);
  if (text == "all" || parsed.size() != 1)
    throw UsageError(quoted(text) + " is not one node; give one for each crash");
  return parsed.front();
}

// "15..1" counts down, "1..15" up.
std::vector<NodeId> parse_order(std::string_view text, std::uint64_t nodes) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return parse_nodes(text, nodes);
  const auto first = one_node(text.substr(0, dots), nodes);
  const auto last = one_node(text.substr(dots + 2), nodes);
  std::vector<NodeId> order = {first};
  while (order.back() != last)
    order.emplace_back(first < last ? order.back().index() + 1 : order.back().index() - 1);
  return order;
}

}  // namespace

std::vector<sim::Crash> parse_moments(std::string_view text, std::uint64_t nodes) {
  std::vector<sim::Crash> moments;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto colon = part.find(':');
    if (colon == std::string_view::npos)
      throw UsageError(quoted(part) + " is not TIME:NODE, as in 5s:3");
    moments.push_back(
        {sim::parse_duration(part.substr(0, colon)), one_node(part.substr(colon + 1), nodes)});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return moments;
}

void refuse_impossible(const std::vector<sim::Crash>& crashes,
                       const std::vector<sim::Crash>& recoveries) {
  std::vector<std::pair<sim::Crash, bool>> moments;  // whether it crashes
  moments.reserve(crashes.size() + recoveries.size());
  for (const auto& crash : crashes) moments.emplace_back(crash, true);
  for (const auto& recovery : recoveries) moments.emplace_back(recovery, false);
  std::stable_sort(moments.begin(), moments.end(),
                   [](const auto& a, const auto& b) { return a.first.time < b.first.time; });
  std::map<NodeId, bool> dead;
  for (const auto& [moment, crashes_now] : moments) {
    auto& is_dead = dead[moment.node];
    if (is_dead == crashes_now)
      throw UsageError("node " + std::to_string(moment.node.value) + " cannot " +
                       (crashes_now ? "crash" : "recover") + " at " +
                       sim::duration_text(moment.time) + ": it " +
                       (crashes_now ? "has crashed already" : "has not crashed"));
    is_dead = crashes_now;
  }
}

std::vector<sim::Crash> crashes_in_order(sim::Time every, std::string_view order,
                                         std::uint64_t nodes) {
  if (every <= 0) throw UsageError("--crash-every is a time above 0");
  std::vector<sim::Crash> crashes;
  for (const auto node : parse_order(order, nodes))
    crashes.push_back({every * static_cast<sim::Time>(crashes.size() + 1), node});
  return crashes;
}

}  // namespace turno

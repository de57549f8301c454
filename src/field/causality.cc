#include "field/causality.h"

#include <algorithm>
#include <map>
#include <optional>

namespace turno::field {

namespace {

// From an entry to the exit.
struct Visit {
  NodeId node;
  Fence fence;
  std::uint32_t group = 0;
  VectorClock entered;
  std::optional<VectorClock> left;  // none: it was still inside, or died there
  bool died = false;
};

using Visits = std::map<std::uint32_t, std::vector<Visit>>;  // of each unit

Visits collect(Primitive primitive, const Setup& setup, std::span<const Record> records) {
  Visits visits;
  std::vector<std::vector<std::pair<std::uint32_t, std::size_t>>> open(setup.size());
  std::vector<std::uint32_t> group(setup.size());
  const auto close = [&](NodeId node, const Record* exit) {
    for (const auto& [unit, place] : open[node.index()]) {
      auto& visit = visits[unit][place];
      exit != nullptr ? void(visit.left = exit->clock) : void(visit.died = true);
    }
    open[node.index()].clear();
  };
  for (const auto& record : records) {
    if (record.lost) continue;
    const auto node = record.node;
    if (record.kind == EventKind::release) close(node, &record);
    if (record.kind == EventKind::crash) close(node, nullptr);
    if (record.kind == EventKind::request) group[node.index()] = record.wish.group;
    if (!record.fence) continue;
    const auto add = [&](std::uint32_t unit, Fence fence) {
      open[node.index()].emplace_back(unit, visits[unit].size());
      visits[unit].push_back({node, fence, group[node.index()], record.clock, {}, false});
    };
    for (const auto& unit : record.units) add(unit.number, unit.fence);
    const bool one_thing = primitive == Primitive::lock || primitive == Primitive::room;
    if (record.units.empty() && one_thing) add(0, *record.fence);
  }
  return visits;
}

std::string described(const Visit& earlier, const Visit& later) {
  return "node " + std::to_string(later.node.value) + " enters with fence " +
         std::to_string(later.fence.value) + " and cannot know that node " +
         std::to_string(earlier.node.value) + " has left";
}

std::string uncaused(const Record& record) {
  return "node " + std::to_string(record.node.value) + " received a message of node " +
         std::to_string(record.from.value) + " that nobody wrote down as sent";
}

}  // namespace

InCausalOrder in_causal_order(std::vector<Record> records, std::size_t nodes) {
  std::vector<std::vector<Record*>> of_node(nodes);
  for (auto& record : records) of_node[record.node.index()].push_back(&record);
  std::vector<std::size_t> next(nodes);
  std::vector<Time> last(nodes);
  std::vector<std::vector<Time>> sent(nodes);  // when each message was
  const auto time_of = [&](std::size_t node) -> std::optional<Time> {
    const auto& record = *of_node[node][next[node]];
    const auto earliest = std::max(record.time, last[node]);
    if (record.kind != EventKind::receive) return earliest;
    const auto& times = sent[record.from.index()];
    if (record.message > times.size()) return {};  // its cause comes first
    return std::max(earliest, times[record.message - 1] + 1);
  };
  InCausalOrder result;
  auto& ordered = result.records;
  while (ordered.size() < records.size()) {
    std::optional<std::size_t> first;
    Time earliest = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      if (next[node] == of_node[node].size()) continue;
      const auto time = time_of(node);
      if (!time || (first && earliest <= *time)) continue;
      first = node;
      earliest = *time;
    }
    if (!first) {
      for (std::size_t node = 0; node < nodes && result.violation.empty(); ++node)
        if (next[node] < of_node[node].size())
          result.violation = uncaused(*of_node[node][next[node]]);
      break;
    }
    auto& record = *of_node[*first][next[*first]++];
    record.time = last[*first] = earliest;
    sent[*first].insert(sent[*first].end(), record.sends.size(), earliest);
    ordered.push_back(std::move(record));
  }
  return result;
}

std::string unordered_entries(Primitive primitive, const Setup& setup,
                              std::span<const Record> records) {
  auto visits = collect(primitive, setup, records);
  for (auto& [unit, of_unit] : visits) {
    std::stable_sort(of_unit.begin(), of_unit.end(),
                     [](const Visit& a, const Visit& b) { return a.fence < b.fence; });
    for (std::size_t later = 1; later < of_unit.size(); ++later) {
      // All of the session before it: of a lock, the one before it.
      for (auto earlier = later; earlier-- > 0;) {
        const auto& before = of_unit[earlier];
        const auto& after = of_unit[later];
        const bool together = primitive == Primitive::room && before.group == after.group &&
                              before.fence == after.fence;
        if (together) continue;
        if (!before.died && (!before.left || !before.left->before(after.entered)))
          return described(before, after);
        const bool more = earlier > 0 && primitive == Primitive::room &&
                          of_unit[earlier - 1].fence == before.fence;
        if (!more) break;
      }
    }
  }
  return {};
}

}  // namespace turno::field

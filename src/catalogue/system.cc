#include "catalogue/system.h"

#include <algorithm>
#include <charconv>

#include "catalogue/text.h"
#include "protocols/mutex/token/nxr_b.h"
#include "protocols/parts/quorum/constructions.h"

namespace turno {

using namespace protocols;

namespace {

std::string joined(const auto& names, std::string_view separator = ", ") {
  std::string text;
  for (std::string_view name : names)
    text += (text.empty() ? "" : std::string(separator)) + std::string(name);
  return text;
}

std::uint64_t parse_number(std::string_view text, std::string_view where,
                           std::string_view what = "node") {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(quoted(text) + " in " + quoted(where) + " is not a " + std::string(what) +
                     " number");
  return value;
}

std::vector<std::string_view> letters(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < text.size(); ++i) parts.push_back(text.substr(i, 1));
  return parts;
}

Topology chosen_topology(const Info& info, const System& system) {
  const auto wanted = system.topology.empty() ? default_topology(info) : system.topology;
  const auto topology = topology_named(wanted);
  if (!topology)
    throw UsageError("there is no topology " + quoted(wanted) + "; there are " +
                     joined(topology_names));
  const auto allowed = [&](Topology t) {
    switch (info.shape) {
      case Shape::tree:
        return is_tree(t);
      case Shape::ring:
        return t == Topology::ring;
      case Shape::complete:
        return t == Topology::complete;
    }
    return false;
  };
  if (!allowed(*topology)) {
    std::vector<std::string_view> good;
    for (auto name : topology_names)
      if (allowed(*topology_named(name))) good.push_back(name);
    throw UsageError(std::string(info.name) + " does not run on the topology " + quoted(wanted) +
                     "; allowed: " + joined(good));
  }
  return *topology;
}

// 034,134,34 (one digit a node) or 0.3.4,1.3.4,3.4
Quorums parse_quorums(std::string_view text, std::uint64_t nodes) {
  Quorums result;
  for (auto part : split(text, ',')) {
    std::vector<NodeId> quorum;
    if (part.find('.') != std::string_view::npos || nodes > 10) {
      for (auto number : split(part, '.')) quorum.emplace_back(parse_number(number, text));
    } else {
      for (auto digit : letters(part)) quorum.emplace_back(parse_number(digit, text));
    }
    for (auto node : quorum)
      if (node.index() >= nodes)
        throw UsageError("node " + std::to_string(node.value) + " in " + quoted(text) +
                         " does not exist: the nodes are 0 to " + std::to_string(nodes - 1));
    std::sort(quorum.begin(), quorum.end());
    quorum.erase(std::unique(quorum.begin(), quorum.end()), quorum.end());
    result.push_back(std::move(quorum));
  }
  if (result.size() != nodes)
    throw UsageError(quoted(text) + " names " + std::to_string(result.size()) + " quorums for " +
                     std::to_string(nodes) + " nodes; give one for each node");
  if (const auto pair = disjoint(result))
    throw UsageError("the quorums of nodes " + std::to_string(pair->first.value) + " and " +
                     std::to_string(pair->second.value) + " share no node; any two must");
  return result;
}

// One for each node; of a room, for each manager.
Quorums chosen_quorums(const System& system, std::uint64_t voters) {
  const auto wanted = system.quorums.empty() ? "cyclic" : system.quorums;
  if (const auto construction = quorum_construction_named(wanted)) {
    if (!possible(*construction, voters)) throw UsageError(why_impossible(*construction, voters));
    return quorums(*construction, voters);
  }
  if (wanted.find_first_not_of("0123456789.,") != std::string::npos)
    throw UsageError("there are no quorums " + quoted(wanted) + "; there are " +
                     joined(quorum_construction_names) +
                     ", or list them, one a node, as in 012,013,023,123");
  return parse_quorums(wanted, voters);
}

Setup with_parameters(const Info& info, const System& system, std::vector<NodeId> father) {
  Setup setup;
  setup.father = std::move(father);
  if (info.voting) {
    const bool room = info.primitive == Primitive::room;
    setup.quorums = chosen_quorums(system, room ? system.groups : system.nodes);
    if (room) setup.room.groups = static_cast<std::uint32_t>(system.groups);
  } else if (!system.quorums.empty()) {
    throw UsageError(std::string(info.name) + " does not vote: --quorums is for maekawa");
  }
  if (system.carry) {
    if (info.name != "nxr-b")
      throw UsageError(std::string(info.name) + " has no limit to carry: --carry is for nxr-b");
    setup.configure<NxrB::Config>().carry = *system.carry;
  }
  return setup;
}

void check_nodes(const System& system) {
  if (system.nodes < 1 || system.nodes > 10'000'000)
    throw UsageError("a system has 1 to 10000000 nodes, not " + std::to_string(system.nodes));
}

}  // namespace

std::string why_impossible(QuorumConstruction construction, std::uint64_t nodes) {
  std::string near;
  for (auto n : possible_near(construction, nodes))
    near += (near.empty() ? "" : " or ") + std::to_string(n);
  const std::string name(quorum_construction_names[static_cast<std::size_t>(construction)]);
  return "there are no " + name + " quorums for " + std::to_string(nodes) + " nodes, but for " +
         near + ": a plane has q^2 + q + 1 points, q a power of a prime";
}

std::string_view default_topology(const Info& info) {
  switch (info.shape) {
    case Shape::tree:
      return "binary-tree";
    case Shape::ring:
      return "ring";
    case Shape::complete:
      break;
  }
  return "complete";
}

Setup make_setup(const Info& info, const System& system) {
  check_nodes(system);
  const auto topology = chosen_topology(info, system);
  Random random(system.seed);
  return with_parameters(info, system, fathers(topology, system.nodes, random));
}

std::vector<Setup> make_setups_of_all_trees(const Info& info, const System& system) {
  check_nodes(system);
  if (info.shape != Shape::tree)
    throw UsageError(std::string(info.name) + " does not run on trees; leave --topology away");
  if (system.nodes > 10) throw UsageError("--topology all is for up to 10 nodes");
  std::vector<Setup> setups;
  for (auto& tree : all_rooted_trees(system.nodes))
    setups.push_back(with_parameters(info, system, std::move(tree)));
  return setups;
}

std::vector<std::vector<Wish>> parse_counts(std::string_view text) {
  std::vector<std::vector<Wish>> scripts;
  for (auto part : split(text, ',')) {
    auto& script = scripts.emplace_back();
    if (part == "-") continue;
    for (auto digit : letters(part)) {
      if (digit == "?" && !script.empty()) {
        script.back().only_try = true;
        continue;
      }
      const auto count = parse_number(digit, text, "permit");
      if (count == 0) throw UsageError("in " + quoted(text) + " a request asks for no permit");
      script.push_back({.needs = {{0, static_cast<std::uint16_t>(count)}}});
    }
  }
  if (scripts.size() < 2) throw UsageError(quoted(text) + " names one node, as in 12,1 for two");
  return scripts;
}

std::vector<std::vector<Wish>> parse_visits(std::string_view text, std::uint64_t groups) {
  std::vector<std::vector<Wish>> scripts(groups);
  for (auto part : split(text, ',')) {
    auto& script = scripts.emplace_back();
    const bool dotted = part.find('.') != std::string_view::npos || groups > 10;
    const auto numbers = dotted ? split(part, '.') : letters(part);
    for (auto number : numbers) {
      const auto group = parse_number(number, text, "group");
      if (group >= groups)
        throw UsageError("group " + std::to_string(group) + " in " + quoted(text) +
                         " does not exist: the groups are 0 to " + std::to_string(groups - 1));
      script.push_back({.group = static_cast<std::uint32_t>(group)});
    }
  }
  return scripts;
}

std::vector<std::uint32_t> parse_capacities(std::string_view text, std::uint64_t groups) {
  std::vector<std::uint32_t> capacities;
  for (auto part : split(text, ',')) {
    const auto capacity = part == "-" ? RoomSetup::unlimited : parse_number(part, text, "capacity");
    if (capacity < 1 || capacity > RoomSetup::unlimited)
      throw UsageError("a capacity is 1 or more, or - for any number, not " + quoted(part));
    capacities.push_back(static_cast<std::uint32_t>(capacity));
  }
  if (capacities.size() == 1) capacities.resize(groups, capacities.front());
  if (capacities.size() != groups)
    throw UsageError(quoted(text) + " gives " + std::to_string(capacities.size()) +
                     " capacities for " + std::to_string(groups) +
                     " groups; give one for each, or one for all");
  return capacities;
}

std::vector<NodeId> parse_nodes(std::string_view text, std::uint64_t nodes) {
  std::vector<NodeId> result;
  if (text == "all") {
    for (std::uint64_t i = 0; i < nodes; ++i) result.emplace_back(i);
    return result;
  }
  for (auto part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash), text);
    const auto last =
        dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1), text);
    if (last < first) throw UsageError(quoted(part) + " goes backwards");
    if (last >= nodes)
      throw UsageError("node " + std::to_string(last) + " in " + quoted(text) +
                       " does not exist: the nodes are 0 to " + std::to_string(nodes - 1));
    for (auto i = first; i <= last; ++i) result.emplace_back(i);
  }
  return result;
}

}  // namespace turno

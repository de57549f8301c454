// A system as a user describes it, turned into the Setup of an algorithm. What is impossible is
// refused with what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/container/node_set.h"
#include "core/protocol.h"
#include "core/setup.h"
#include "core/topology.h"
#include "core/usage_error.h"
#include "protocols/parts/quorum/constructions.h"

namespace turno {

struct System {
  std::uint64_t nodes = 31;
  std::string topology;      // empty: what suits the algorithm
  std::string quorums;       // a construction, or a list such as 012,013,023,123; empty: cyclic
  std::uint64_t groups = 0;  // of rooms: their managers are the first nodes
  std::optional<std::uint32_t> carry;
  std::uint64_t seed = 1;
};

std::string_view default_topology(const Info& info);
// For how many nodes near to this number the quorums can be constructed.
std::string why_impossible(protocols::QuorumConstruction construction, std::uint64_t nodes);
// Throws UsageError.
Setup make_setup(const Info& info, const System& system);
// The same for each rooted tree of that size.
std::vector<Setup> make_setups_of_all_trees(const Info& info, const System& system);

// How many permits each node asks for, one request after the other: "12,1,-". Throws UsageError.
std::vector<std::vector<Wish>> parse_counts(std::string_view text);

// What each process of a room asks for, one list a process: "00,11" or "0.12,3". The first nodes
// are managers and ask for nothing. Throws UsageError.
std::vector<std::vector<Wish>> parse_visits(std::string_view text, std::uint64_t groups);
// The capacities of the groups, "1,2,-": a dash is unlimited. Throws UsageError.
std::vector<std::uint32_t> parse_capacities(std::string_view text, std::uint64_t groups);

// "0-4", "0,2,5", "all". Throws UsageError.
std::vector<NodeId> parse_nodes(std::string_view text, std::uint64_t nodes);

}  // namespace turno

// Sites and resources as a user describes them. All throw UsageError with what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/demand.h"
#include "core/setup.h"

namespace turno {

// The site of each node: "3" is so many sites, as equal as the number of nodes allows; "2,2,1" are
// their sizes, and says how many nodes there are.
std::vector<std::uint16_t> parse_sites(std::string_view text, std::uint64_t nodes);

// The type of each instance: so many of each type, "2", or of one after the other, "2,1".
std::vector<std::uint16_t> parse_instances(std::optional<std::uint64_t> types,
                                           std::string_view instances);

// What each node may ask for, for the checker: "10/01,11" lets node 0 ask for one of type 0 or one
// of type 1, and node 1 for one of each, one digit a type. A single list is for all nodes.
std::vector<std::vector<Wish>> parse_needs(std::string_view text, const Setup& setup);

}  // namespace turno

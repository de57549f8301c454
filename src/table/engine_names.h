// The algorithms that a node can run, for those who need no more than their names.
#pragma once

#include <string_view>
#include <vector>

namespace turno::table {

// Of locks, in the order of protocols/algorithms.list.
std::vector<std::string_view> engine_names();
// Of reservations.
std::vector<std::string_view> store_engine_names();

}  // namespace turno::table

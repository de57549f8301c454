// Which nodes crash and come back, and when, as a user writes it. All throw UsageError.
#pragma once

#include <string_view>
#include <vector>

#include "sim/options.h"

namespace turno {

// "5s:15,10s:14": at these times these nodes. The same for who comes back.
std::vector<sim::Crash> parse_moments(std::string_view text, std::uint64_t nodes);

// One crash every so often, in the order "15..1" or "3,0,2".
std::vector<sim::Crash> crashes_in_order(sim::Time every, std::string_view order,
                                         std::uint64_t nodes);

// Only the living crash, and only the dead recover.
void refuse_impossible(const std::vector<sim::Crash>& crashes,
                       const std::vector<sim::Crash>& recoveries);

}  // namespace turno

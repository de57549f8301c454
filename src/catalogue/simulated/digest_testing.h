// What digest_test.cc compares.
#pragma once

#include <cstdint>
#include <vector>

#include "core/protocol.h"
#include "sim/options.h"

namespace turno::testing {

sim::Options digest_options(const Info& info, std::uint64_t seed);

// One digest of each lock, in the order of the list.
std::vector<std::uint64_t> digests(std::uint64_t seed);

}  // namespace turno::testing

// What the algorithms that reserve resources want to know, each some of it.
#pragma once

#include <cstdint>

namespace turno::protocols {

struct AllocationConfig {
  bool driver_chooses = false;       // where the algorithm may choose, the driver does
  std::uint32_t bypasses = 12;       // how often a request may be overtaken by younger ones
  std::uint32_t frequent_after = 0;  // grid: requests of one type in a row; 0: not looked at
  // Hints for brokered: how long somebody stays inside, and how long a message takes.
  std::int64_t hold_ns = 0, local_ns = 0, remote_ns = 0;
  bool operator==(const AllocationConfig&) const = default;
};

}  // namespace turno::protocols

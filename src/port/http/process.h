// What the system knows about this process.
#pragma once

#include <cstdint>

namespace turno::port {

[[nodiscard]] std::uint64_t resident_bytes();
[[nodiscard]] double cpu_seconds();
// Since 1970; the same at every call.
[[nodiscard]] double start_time_seconds();

}  // namespace turno::port

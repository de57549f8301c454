// What a parser fed piece by piece says: one is ready, more bytes are needed, or it cannot go on.
#pragma once

#include <cstdint>

namespace turno::wire {

enum class Status : std::uint8_t { ready, more, error };

}  // namespace turno::wire

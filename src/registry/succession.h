// How the next view follows from the one before, whatever registry keeps them: its number, its
// fences, and who has died in between.
//
// Fences have the epoch in their high bits, plus a number that lets them begin at the clock, in
// sixteenths of a second since 2024, when a first member joins. So they grow as long as the
// registry lives, whatever the clock says; and if it is lost or restored, the clock stands in for
// it, unless views have followed each other faster than sixteen a second since the first.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "registry/registry.h"

namespace turno::registry {

inline constexpr std::uint32_t epoch_limit = std::numeric_limits<std::uint32_t>::max();

using WallClock = std::int64_t (*)();  // milliseconds since 1970
[[nodiscard]] std::int64_t system_clock();

// Where the epochs in the fences of a new registry begin, at this time.
[[nodiscard]] std::uint64_t fence_epoch_at(std::int64_t unix_ms);

// Gives the next view its number. `founded`: there was no living member. An error, without saying
// of which registry, if all numbers are used up or the clock cannot be true.
[[nodiscard]] Expected<void> number(const View& view, bool founded, std::int64_t unix_ms,
                                    View& next);

// The next view, which has its number, is without these, who have died. When that was noticed
// (crash_moment) the caller says.
void note_casualties(const std::vector<Member>& dead, std::int64_t unix_ms, View& next);

}  // namespace turno::registry

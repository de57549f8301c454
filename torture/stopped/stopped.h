// One member stands still under SIGSTOP while clients go on at the others, with names that its
// silence makes wait: what the others keep for it has a bound, and when it goes on everybody is
// served.
#pragma once

#include "run.h"

namespace turno::torture {

// By how much the memory of a node may grow: 64 MiB of frames for the member that is stopped (what
// is beyond that is dropped), as much again for what is copied while it is sent, and what a node
// under load needs anyway.
inline constexpr std::uint64_t stopped_bound_mib = 192;

// For so long.
Report stop_one(const Options& options, std::chrono::milliseconds time);

}  // namespace turno::torture

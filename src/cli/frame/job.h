// What a command does when it is chosen, and how it ends.
#pragma once

#include <functional>

namespace turno::cli {

using Job = std::function<int()>;  // returns the exit status

inline constexpr int exit_violated = 1;
inline constexpr int exit_limit = 2;
inline constexpr int exit_usage = 64;
inline constexpr int exit_lost = 123;
inline constexpr int exit_timeout = 124;
inline constexpr int exit_own_error = 125;
inline constexpr int exit_signal = 128;  // plus the signal's number

}  // namespace turno::cli

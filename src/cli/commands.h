// The commands of turno. Each adds itself to the command line and, when chosen, sets what to run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace turno::cli {

using Job = std::function<int()>;  // returns the exit status

void add_algorithms(Command app, Job& job);
void add_sim(Command app, Job& job);
void add_check(Command app, Job& job);
void add_compare(Command app, Job& job);
void add_quorums(Command app, Job& job);
void add_node(Command app, Job& job);
void add_up(Command app, Job& job);
void add_down(Command app, Job& job);
void add_status(Command app, Job& job);
void add_members(Command app, Job& job);
void add_locks(Command app, Job& job);
void add_waiters(Command app, Job& job);
void add_why(Command app, Job& job);
void add_demo(Command app, Job& job);
// `command` is what it runs; see command_words.h.
void add_lock(Command app, Job& job, const std::vector<std::string>& command);
void add_completion(Command app, Job& job);

inline constexpr int exit_violated = 1;
inline constexpr int exit_limit = 2;
inline constexpr int exit_usage = 64;
inline constexpr int exit_lost = 123;
inline constexpr int exit_timeout = 124;
inline constexpr int exit_own_error = 125;
inline constexpr int exit_signal = 128;  // plus the signal's number

}  // namespace turno::cli

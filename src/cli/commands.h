// The commands of turno. Each adds itself to the command line and, when chosen, sets what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace turno::cli {

using Job = std::function<int()>;  // returns the exit status

void add_algorithms(CLI::App& app, Job& job);
void add_sim(CLI::App& app, Job& job);
void add_check(CLI::App& app, Job& job);
void add_compare(CLI::App& app, Job& job);
void add_node(CLI::App& app, Job& job);
void add_up(CLI::App& app, Job& job);
void add_down(CLI::App& app, Job& job);
void add_status(CLI::App& app, Job& job);
void add_members(CLI::App& app, Job& job);
void add_locks(CLI::App& app, Job& job);
void add_waiters(CLI::App& app, Job& job);
void add_why(CLI::App& app, Job& job);
void add_demo(CLI::App& app, Job& job);
// `command` is what it runs; see command_words.h.
void add_lock(CLI::App& app, Job& job, const std::vector<std::string>& command);
void add_completion(CLI::App& app, Job& job);

inline constexpr int exit_violated = 1;
inline constexpr int exit_limit = 2;
inline constexpr int exit_usage = 64;
inline constexpr int exit_lost = 123;
inline constexpr int exit_timeout = 124;
inline constexpr int exit_own_error = 125;
inline constexpr int exit_signal = 128;  // plus the signal's number

}  // namespace turno::cli

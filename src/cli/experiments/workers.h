// Runs side by side, each in a process of its own: what one breaks, memory or an assertion, harms
// no other.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cli/lab/commands.h"
#include "lab/values.h"

namespace turno::cli {

using Done = std::function<void(const lab::Task&, const lab::Measured&)>;
// Runs all, so many at a time, and tells of each that is done. Throws std::runtime_error if one
// cannot be run.
using Executor = void (*)(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done);

void run_in_workers(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done);

struct Executors {
  Executor simulated = run_in_workers, real = run_in_workers;
};

// What a worker says of a run, as one line of the log; or why there is none. A real one runs on
// `processes`.
std::string told(const lab::Task& task, FieldRunner processes = field::run);
// Throws std::runtime_error if there is none.
lab::Measured heard(const lab::Task& task, const std::string& text);

}  // namespace turno::cli

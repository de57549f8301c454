// One run as a user would type it, in this process.
#pragma once

#include <string>

#include "cli/lab/commands.h"
#include "lab/values.h"

namespace turno::cli {

// A real one on `processes`. Throws UsageError.
lab::Measured run_task(const lab::Task& task, FieldRunner processes);
// Whether it could be run. Throws UsageError.
void check_task(const lab::Task& task);

}  // namespace turno::cli

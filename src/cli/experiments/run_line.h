// One run as a user would type it, in this process.
#pragma once

#include <string>

#include "lab/values.h"

namespace turno::cli {

// Throws UsageError.
lab::Measured run_task(const lab::Task& task);
// Whether it could be run. Throws UsageError.
void check_task(const lab::Task& task);

}  // namespace turno::cli

// A run whose processes are the ranks of MPI. All ranks call this together; the first judges.
#pragma once

#include "cli/lab/commands.h"

namespace turno::cli {

// Node i is at rank i modulo their number; ranks beyond the nodes have nothing to do. Throws
// UsageError, at all ranks.
field::Outcome run_nodes_on_ranks(const field::Cast& cast, const sim::Options& options,
                                  const field::Plan& plan);

}  // namespace turno::cli

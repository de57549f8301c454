#include "cli/lab/options/system_options.h"

namespace turno::cli {

void add_system_options(Command command, System& system) {
  command.add_option("-n,--nodes", system.nodes, "How many nodes")
      .capture_default_str()
      .non_negative();
  command.add_option("--topology", system.topology,
                     "Initial shape: line, star, radiating-star, binary-tree, ternary-tree, "
                     "random-tree, ring, complete (default: what suits the algorithm)");
  command.add_option(
      "--quorums,--construction", system.quorums,
      "Who votes: cyclic, projective, closed-form, grid, majority, or one quorum a node (a group), "
      "as in 012,013,023,123");
  command.add_option("--carry", system.carry, "nxr-b: claims that a token may carry");
}

}  // namespace turno::cli

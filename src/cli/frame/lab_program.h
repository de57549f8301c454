// The other program: turno-lab, with the simulator and the checker. What a daemon in production
// needs is in turno alone; `turno sim` runs `turno-lab sim`.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/job.h"

namespace turno::cli {

struct LabCommand {
  std::string_view name, help;
};
inline constexpr std::array lab_commands = {
    LabCommand{"algorithms", "List the algorithms"},
    LabCommand{"sim", "Simulate one algorithm"},
    LabCommand{"run", "Run one algorithm on real processes"},
    LabCommand{"check", "Explore every interleaving of a small system"},
    LabCommand{"compare", "Compare the lock algorithms on the same workloads"},
    LabCommand{"lab", "Run the papers' experiments again, and judge what comes out"},
    LabCommand{"quorums",
               "Sets of nodes of which any two share a node, beside the smallest possible"},
};

// Adds one of them to the command line of turno-lab. REQUIRES: there is such a command.
Command add_lab_command(Command app, std::string_view name);

[[nodiscard]] bool is_lab_command(std::string_view name);
// Becomes turno-lab, which is beside this program or on the path. Returns the exit status if there
// is none.
int become_lab(char** argv);
// What `turno-lab WORDS...` prints; nothing if there is none.
std::string ask_lab(const std::vector<std::string>& words);

}  // namespace turno::cli

#include "canaries.h"

#include <array>

#include "held.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;
using Kind = Canary::Kind;

constexpr auto long_idle = 60'000ms;  // nothing that is stuck is mended by forgetting it

constexpr std::array all = {
    Canary{"all-reports", "nxr-bh", "the home does not wait for all reports"},
    Canary{.name = "epochs",
           .algorithm = "nxr-bh",
           .flaw = "what older views have sent is heard",
           .hidden = "needs a message that is older than a view; not met in 20 s"},
    Canary{"fence-epoch", "nxr-bh", "fences of a new view begin where the first one's did"},
    Canary{"fence-floor", "nxr-bh", "fences begin anew when a lock was forgotten"},
    Canary{.name = "inquiries",
           .algorithm = "nxr-bh",
           .flaw = "\"I have nothing\" answers whatever the home waits for",
           .idle = 100ms,
           .held = 40'000,
           .hidden = "needs reports that take longer than the time after which locks are idle"},
    Canary{"memory", "nxr-bh", "a home forgets what the dead may have had"},
    Canary{"escrow", "nxr-bh", "what the dead may have had is given away at once"},
    Canary{.name = "giving-back",
           .algorithm = "nxr-bh",
           .flaw = "a turn that nobody waits for any more is kept",
           .idle = long_idle},
    Canary{.name = "leaving-between",
           .algorithm = "nxr-bh",
           .flaw = "who leaves while there is no instance is forgotten",
           .idle = long_idle},
    Canary{.name = "orphans",
           .algorithm = "ricart-agrawala",
           .flaw = "messages of instances not known yet are dropped",
           .idle = long_idle},
    Canary{.name = "fences-of-users",
           .algorithm = "nxr-bh",
           .flaw = "leaving ends whatever grant there is",
           .hidden = "the table looks at owner and fence before the desk does"},
    Canary{.name = "last-father",
           .algorithm = "nxr-b",
           .flaw = "two nodes starve a third",
           .kind = Kind::departure,
           .hidden = "needs two nodes that never miss a round"},
    Canary{.name = "stamp-test",
           .algorithm = "nxr-bh",
           .flaw = "a request can reach its own sender",
           .kind = Kind::departure,
           .hidden = "needs an order of messages that the checker finds in 17 steps"},
    Canary{.name = "hop-limit",
           .algorithm = "nxr-bh",
           .flaw = "a request may chase the token for ever",
           .kind = Kind::departure,
           .hidden = "needs a schedule that never ends"},
    Canary{.name = "carried-first",
           .algorithm = "nxr-bh",
           .flaw = "those absorbed on the way starve the others",
           .kind = Kind::departure,
           .hidden = "needs a schedule that never ends"},
};

}  // namespace

std::span<const Canary> canaries() { return all; }

std::string look_for(const Canary& canary, Options options) {
  (canary.kind == Kind::rule ? options.node.without : options.node.departure) = canary.name;
  options.node.algorithm = canary.algorithm;
  options.node.idle = canary.idle;
  options.until_complaint = true;
  if (canary.held > 0) {
    // One change of the view is one chance: several if it must be.
    for (int i = 0; i < 5; ++i, ++options.seed) {
      const auto report = hold_many(options, {.locks = canary.held});
      if (!report.complaints.empty()) return report.complaints.front();
    }
    return "";
  }
  const auto report = torture(options);
  return report.complaints.empty() ? "" : report.complaints.front();
}

}  // namespace turno::torture

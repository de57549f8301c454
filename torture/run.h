// One tortured cluster: nodes and clients are stopped, continued, killed and replaced, nodes join
// and leave, and connections between them are cut, while the clients take and leave locks.
#pragma once

#include <string>
#include <vector>

#include "processes.h"
#include "things.h"

namespace turno::torture {

struct Options {
  NodeOptions node;
  std::uint32_t nodes = 5, clients = 15, locks = 200;
  Things things{};
  double seconds = 3;
  std::uint64_t seed = 1;
  bool faults = true;
  double slack = 1;  // how many times slower than usual this machine or build is
  // Ends with the first complaint. Storms then take turns with times in which nothing is disturbed,
  // so that a lock that is stuck is not mended by the next change of the view.
  bool until_complaint = false;

  [[nodiscard]] std::chrono::milliseconds scaled(std::chrono::milliseconds time) const {
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(static_cast<double>(time.count()) * slack));
  }
};

struct Report {
  std::string summary;
  std::vector<std::string> complaints;
  std::string misplayed;  // why it was not what it was to be (plays.h); empty: it was
};

Report torture(const Options& options);

}  // namespace turno::torture

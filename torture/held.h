// Many locks that are held through one node, while another one leaves or dies: thousands of reports
// are on their way when idle locks are forgotten. Nobody may get one of them.
#pragma once

#include "run.h"

namespace turno::torture {

struct Held {
  std::uint32_t locks = 40'000;
  std::uint32_t waits = 300;  // of other clients, for some of these locks
  enum class Change : std::uint8_t { leave, kill } change = Change::leave;
  std::chrono::milliseconds stop{0};  // of the holder's node, while it reports
};

Report hold_many(const Options& options, const Held& held);

}  // namespace turno::torture

// Options of one kind of thing only: permits of semaphores, groups of rooms, and so on. Each part
// refuses algorithms that it is not for.
#pragma once

#include "catalogue/catalogue.h"
#include "cli/command.h"
#include "cli/json.h"

namespace turno::cli {

struct PrimitiveOptions {
  void add_to(Command /*command*/) {}
  // Fills in what the algorithm needs beyond nodes and topology. Throws UsageError.
  void apply(const Algorithm& /*algorithm*/, Setup& /*setup*/) const {}
  // What was chosen, for the output.
  void describe(const Algorithm& /*algorithm*/, Json& /*json*/) const {}
};

}  // namespace turno::cli

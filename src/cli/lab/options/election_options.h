// Options of elections: who notices that the coordinator is gone, and how long nodes wait.
#pragma once

#include <string>

#include "catalogue/catalogue.h"
#include "cli/frame/command.h"
#include "core/text/json.h"

namespace turno::cli {

struct ElectionOptions {
  std::string watchers, ask_every, answer_within, finish_within;
  bool asking = false;

  void add_to(Command command);
  void add_to_check(Command command);
  void add_to_sim(Command command);

  // Throw UsageError.
  void apply(const Algorithm& algorithm, check::Options& options) const;
  void apply(const Algorithm& algorithm, sim::Options& options) const;
  void describe(const Algorithm& algorithm, Json& json) const;
  [[nodiscard]] std::string text() const;

 private:
  // False: it is not an election.
  bool apply(const Algorithm& algorithm, Setup& setup) const;
};

}  // namespace turno::cli

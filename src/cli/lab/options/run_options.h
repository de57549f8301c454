// What `turno sim` and `turno run` have in common: their options, and the runs that these ask for.
#pragma once

#include <cstdint>
#include <string>

#include "cli/frame/command.h"
#include "cli/lab/run_report.h"
#include "field/run.h"

namespace turno::cli {

// How `turno run` is to be run, as given.
struct FieldOptions {
  double scale = 1;
  std::uint64_t processes = 0;
  std::string patience = "30s", limit = "10min";
  bool clocks = false;

  void add_to(Command command);
  // Throws UsageError.
  [[nodiscard]] field::Plan plan() const;
};

// What both commands have.
void add_run_options(Command command, RunRequest& request);
// Known in callbacks: what the line has.
void note_given(Command command, RunRequest& request);
// The same for `turno run`: a run that ends at a time ends there.
void note_given_in_field(Command command, RunRequest& request);
inline constexpr std::uint64_t field_entries = 200;  // unless said otherwise

// A request that was looked at: the algorithm, and everything but the seed.
struct PreparedRun {
  // Throws UsageError.
  explicit PreparedRun(RunRequest asked);
  // Sets what depends on the seed.
  void repeat(std::uint64_t repetition);
  [[nodiscard]] bool published() const;

  RunRequest request;
  const Algorithm* algorithm = nullptr;
  const Refutable* wrong = nullptr;  // null: the algorithm itself
  sim::Options options;
};

}  // namespace turno::cli

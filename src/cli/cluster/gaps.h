// What may be missing in an answer about a cluster, and how that is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/process_state.h"
#include "core/text/json.h"

namespace turno::cli {

// The answer is true, but not all of it: somebody did not answer.
inline constexpr int exit_incomplete = 2;

struct SilentNode {
  std::string name;
  std::int64_t pid = 0;
  cluster::ProcessState state{};
};

struct Gaps {
  std::vector<SilentNode> silent;  // did not answer
  std::vector<std::string> cut;    // had more to tell than a node may

  [[nodiscard]] bool complete() const { return silent.empty(); }
};

// "node-1 (pid 123, stopped) did not answer: `kill -CONT 123` lets it go on, ..."
std::string describe(const SilentNode& node);
// `complete`, `silent` and `truncated`.
void add_gaps(Json& json, const Gaps& gaps);
// Lines to standard error, and the exit status.
int tell_gaps(const Gaps& gaps);
inline int status_of(const Gaps& gaps) { return gaps.complete() ? 0 : exit_incomplete; }

}  // namespace turno::cli

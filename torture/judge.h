// Judges a run from the clients' own records: whether two ever held a lock at once, and whether its
// fences only grew.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace turno::torture {

// One hold of one lock, in nanoseconds of one clock for all processes. `granted` is taken after the
// lock was granted, `ended` before it was released (or when its loss was noticed, or before the
// client was killed): if these overlap, the holds themselves did.
struct Hold {
  std::uint32_t client = 0;
  std::uint32_t lock = 0;
  std::uint64_t fence = 0;
  std::int64_t asked = 0, granted = 0, ended = 0;
  // With a time to live: a careful client counts from when it asked, and does not trust it longer.
  std::int64_t expires = std::numeric_limits<std::int64_t>::max();
};

struct Verdict {
  std::vector<std::string> violations;
  std::uint64_t holds = 0;
  std::uint64_t hand_overs = 0;  // between different clients
  std::int64_t longest_wait = 0;
};

Verdict judge(std::vector<Hold> holds);

}  // namespace turno::torture

// What reservations ask for, as a user describes it:
//
//   half:A-B         each type with probability one half, A to B instances of it; if no type was
//                    drawn, A of one
//   set:A-B          A to B different types, one instance each
//   fixed:half:A-B   the same for every request of a node; fixed:set:A-B too
//   FILE             a file of demands, one a line: NODE TYPE:COUNT TYPE:COUNT ...
//
// In a file, the n-th line of a node is its n-th request, and after the last comes its first again;
// node `*` is every node that has no line of its own; `#` begins a comment. The demands of a node
// depend on the seed and on nothing else, so several algorithms can be given the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/demand.h"
#include "core/random.h"
#include "core/setup.h"

namespace turno::sim {

class Demands {
 public:
  // These throw std::invalid_argument with what is allowed; of a file, with the number of the line.
  static Demands parse(std::string_view text, const Setup& setup);
  static Demands parse_file(std::string_view name, std::string_view content, const Setup& setup);

  // For one run. The setup must outlive it.
  [[nodiscard]] std::function<Wish(NodeId, Random&)> source(const Setup& setup,
                                                            std::uint64_t seed) const;

 private:
  enum class Kind : std::uint8_t { half, set, listed } kind_ = Kind::half;
  bool fixed_ = false;
  std::uint16_t low_ = 1, high_ = 1;
  std::vector<std::vector<Wish>> listed_;  // of each node

  [[nodiscard]] Wish draw(const Setup& setup, Random& random) const;
};

// All demands of up to so many instances in all, for the checker.
std::vector<Wish> all_demands(const ResourceSetup& resources, std::size_t most);

}  // namespace turno::sim

// Searches for small difference covers: how the table of difference_covers.h was made, and how its
// claims are tested. See bench/difference_covers.cc.
#pragma once

#include <cstdint>
#include <optional>

#include "core/random.h"
#include "protocols/parts/quorum/difference_covers.h"

namespace turno::protocols {

struct CoverSearch {
  enum class Answer : std::uint8_t { found, none, gave_up } answer = Answer::none;
  Cover cover;              // if found
  std::uint64_t tried = 0;  // partial covers
};

// Tries every set of k residues mod n, up to symmetry: `none` is a proof.
// REQUIRES: 2 <= k, n <= 255.
CoverSearch search_cover(std::size_t n, std::size_t k, std::uint64_t most = ~std::uint64_t{0});

// Looks for one by annealing: exchanges residues, at first also for worse ones. Finding nothing
// proves nothing.
std::optional<Cover> anneal_cover(std::size_t n, std::size_t k, std::uint64_t exchanges,
                                  Random& random);

// The first in the order of words among all that it can be moved and multiplied to. They have the
// same differences, up to their order.
Cover canonical_cover(const Cover& cover, std::size_t n);

}  // namespace turno::protocols

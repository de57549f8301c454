// Finite projective planes by Singer's construction: N = q^2 + q + 1 points, as many lines of q + 1
// points, any two lines share exactly one. No quorums of equal size and load can be smaller.
#pragma once

#include <cstddef>
#include <optional>

#include "protocols/parts/quorum/difference_covers.h"

namespace turno::protocols {

// The prime of which q is a power, if it is one.
std::optional<std::size_t> prime_of_power(std::size_t q);

// The q with n = q^2 + q + 1 that is a prime power, or 1 (a triangle). None: no plane is built.
std::optional<std::size_t> plane_order(std::size_t n);

// The residues i mod n with Tr(a^i) = 0 for a primitive a of GF(q^3), moved so that 0 and 1 are
// among them. The lines of the plane are its translates. REQUIRES: plane_order(n).
Cover singer_cover(std::size_t n);

}  // namespace turno::protocols

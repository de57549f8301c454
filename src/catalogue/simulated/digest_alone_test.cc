// For digest_test: the simulator alone, so that another compiler need not build all the rest.
#include "catalogue/simulated/digest_testing.h"
#include "protocols/list.h"
#include "sim/simulation.h"

namespace turno::testing {

using namespace protocols;

namespace {

template <class... P>
std::vector<std::uint64_t> digests(List<P...>, std::uint64_t seed) {
  return {sim::Simulation<P>(digest_options(P::info, seed)).run().digest...};
}

}  // namespace

std::vector<std::uint64_t> digests(std::uint64_t seed) { return digests(Locks{}, seed); }

}  // namespace turno::testing

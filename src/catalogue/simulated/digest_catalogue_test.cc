// For catalogue_test: what is compiled already.
#include "catalogue/catalogue.h"
#include "catalogue/simulated/digest_testing.h"

namespace turno::testing {

std::vector<std::uint64_t> digests(std::uint64_t seed) {
  std::vector<std::uint64_t> digests;
  for (const auto& lock : locks())
    digests.push_back(lock.simulate(digest_options(lock.info, seed)).digest);
  return digests;
}

}  // namespace turno::testing

// The other algorithms with recovery, for recovery_test only: as recovery_shard_1_test.cc.
#include "check/explorer.h"
#include "cluster/recovering.h"
#include "protocols/locks.h"
#include "sim/simulation.h"

namespace turno::cluster::testing {

template <Protocol P>
check::Result explore(const check::Options& options) {
  return check::Explorer<Recovering<P>>(options).run();
}
template <Protocol P>
sim::Result simulate(const sim::Options& options) {
  return sim::Simulation<Recovering<P>>(options).run();
}

template check::Result explore<Lamport>(const check::Options&);
template check::Result explore<CarvalhoRoucairol>(const check::Options&);
template check::Result explore<TokenRing>(const check::Options&);
template check::Result explore<Raymond>(const check::Options&);

template sim::Result simulate<Lamport>(const sim::Options&);
template sim::Result simulate<CarvalhoRoucairol>(const sim::Options&);
template sim::Result simulate<TokenRing>(const sim::Options&);
template sim::Result simulate<Raymond>(const sim::Options&);

}  // namespace turno::cluster::testing

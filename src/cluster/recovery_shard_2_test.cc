// Some of the algorithms with recovery, explored and simulated: recovery_check_test.cc and
// recovery_sim_test.cc say how. Apart from them, since these templates take long to compile.
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

template check::Result explore<SuzukiKasami>(const check::Options&);
template check::Result explore<NxrBh>(const check::Options&);
template check::Result explore<Dir>(const check::Options&);

template sim::Result simulate<SuzukiKasami>(const sim::Options&);
template sim::Result simulate<NxrBh>(const sim::Options&);
template sim::Result simulate<Dir>(const sim::Options&);

}  // namespace turno::cluster::testing

// The list of algorithms: the only one. Add yours here, and the simulator, the checker and the
// command line have it.
#pragma once

#include "protocols/allocation/bouabdallah_laforest.h"
#include "protocols/allocation/brokered.h"
#include "protocols/allocation/central_allocator.h"
#include "protocols/allocation/grid.h"
#include "protocols/as_published/bertier.h"
#include "protocols/as_published/bully.h"
#include "protocols/as_published/grid.h"
#include "protocols/as_published/maekawa.h"
#include "protocols/as_published/nxr.h"
#include "protocols/as_published/quorum_group.h"
#include "protocols/as_published/ricart_agrawala.h"
#include "protocols/as_published/ring.h"
#include "protocols/as_published/robust_k.h"
#include "protocols/deadlock/central_detector.h"
#include "protocols/deadlock/probes.h"
#include "protocols/election/bully.h"
#include "protocols/election/ring.h"
#include "protocols/group/quorum_group.h"
#include "protocols/kmutex/raymond_k.h"
#include "protocols/kmutex/robust_k.h"
#include "protocols/locks.h"
#include "protocols/mutex/bertier.h"
#include "protocols/mutex/central_failover.h"
#include "protocols/mutex/maekawa_failed.h"

namespace turno {

// Locks that the network does not run; semaphores, rooms, reservations, elections, detection of
// deadlock.
using Others =
    List<MaekawaFailed, CentralFailover, RaymondK, RobustK, QuorumGroup, Bertier, CentralAllocator,
         BouabdallahLaforest, Grid, Brokered, Bully, Ring, Probes, CentralDetector>;

using Algorithms = decltype(Locks{} + Others{});

// What is printed wrongly: for the checker only. Their departures, and those that the locks above
// declare themselves (ours with one rule taken away), are to be refuted.
using AsPublished = List<as_published::Nxr, as_published::RicartAgrawala, as_published::Maekawa,
                         as_published::RobustK, as_published::QuorumGroup, as_published::Bertier,
                         as_published::Grid, as_published::Bully, as_published::Ring>;

}  // namespace turno

// The list of algorithms: the only one. Add yours here, and the simulator, the checker and the
// command line have it.
#pragma once

#include "protocols/as_published/maekawa.h"
#include "protocols/as_published/nxr.h"
#include "protocols/as_published/quorum_group.h"
#include "protocols/as_published/ricart_agrawala.h"
#include "protocols/as_published/robust_k.h"
#include "protocols/group/quorum_group.h"
#include "protocols/kmutex/raymond_k.h"
#include "protocols/kmutex/robust_k.h"
#include "protocols/locks.h"
#include "protocols/mutex/maekawa_failed.h"

namespace turno {

// A lock for comparison; semaphores, rooms, reservations, elections, detection of deadlock.
using Others = List<MaekawaFailed, RaymondK, RobustK, QuorumGroup>;

using Algorithms = decltype(Locks{} + Others{});

// What is printed wrongly: for the checker only. Their departures, and those that the locks above
// declare themselves (ours with one rule taken away), are to be refuted.
using AsPublished = List<as_published::Nxr, as_published::RicartAgrawala, as_published::Maekawa,
                         as_published::RobustK, as_published::QuorumGroup>;

}  // namespace turno

// The list of algorithms: the only one. Add yours here, and the simulator, the checker and the
// command line have it.
#pragma once

#include "protocols/as_published/maekawa.h"
#include "protocols/as_published/nxr.h"
#include "protocols/as_published/ricart_agrawala.h"
#include "protocols/mutex/carvalho_roucairol.h"
#include "protocols/mutex/central.h"
#include "protocols/mutex/dir.h"
#include "protocols/mutex/lamport.h"
#include "protocols/mutex/maekawa.h"
#include "protocols/mutex/naimi_trehel.h"
#include "protocols/mutex/nxr.h"
#include "protocols/mutex/nxr_b.h"
#include "protocols/mutex/nxr_bh.h"
#include "protocols/mutex/raymond.h"
#include "protocols/mutex/ricart_agrawala.h"
#include "protocols/mutex/suzuki_kasami.h"
#include "protocols/mutex/token_ring.h"

namespace turno {

template <class... P>
struct List {
  static constexpr std::size_t size = sizeof...(P);
};

template <class... P, class... Q>
constexpr List<P..., Q...> operator+(List<P...>, List<Q...>) {
  return {};
}

using Locks = List<Central, Lamport, RicartAgrawala, CarvalhoRoucairol, Maekawa, TokenRing,
                   SuzukiKasami, Raymond, RaymondPiggyback, NaimiTrehel, Nxr, NxrB, NxrBh, Dir>;

// Semaphores, rooms, reservations, elections, detection of deadlock.
using Others = List<>;

using Algorithms = decltype(Locks{} + Others{});

// What is printed wrongly: for the checker only. Their departures, and those that the locks above
// declare themselves (ours with one rule taken away), are to be refuted.
using AsPublished = List<as_published::Nxr, as_published::RicartAgrawala, as_published::Maekawa>;

}  // namespace turno

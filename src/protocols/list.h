// The list of algorithms: the only one. Add yours here, and the simulator, the checker and the command
// line have it.
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

using Locks =
    List<Central, Lamport, RicartAgrawala, CarvalhoRoucairol, Maekawa, TokenRing, SuzukiKasami,
         Raymond, RaymondPiggyback, NaimiTrehel, Nxr, NxrB, NxrBh, Dir>;

// What is printed wrongly, and our own algorithms with one rule taken away: for the checker only.
using Refuted = List<
    as_published::Nxr<0>, as_published::Nxr<1>, as_published::Nxr<2>, as_published::Nxr<3>,
    as_published::Nxr<4>, as_published::Nxr<5>,
    as_published::RicartAgrawala<as_published::SlidesReading::tie_reply>,
    as_published::RicartAgrawala<as_published::SlidesReading::tie_silence>,
    as_published::RicartAgrawala<as_published::SlidesReading::no_clock_rule>,
    as_published::RicartAgrawala<as_published::SlidesReading::same_tick>,
    as_published::RicartAgrawala<as_published::SlidesReading::blocking_rpc>,
    as_published::Maekawa<as_published::MaekawaReading::original>,
    as_published::Maekawa<as_published::MaekawaReading::textbook>,
    as_published::Maekawa<as_published::MaekawaReading::never_recalled>, NxrBFatherIsNext,
    NxrBhWith<NxrBhRule::no_stamp_test>, NxrBhWith<NxrBhRule::no_hop_limit>,
    NxrBhWith<NxrBhRule::local_first>>;

}  // namespace turno

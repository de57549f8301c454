// The lock algorithms: the part of the list that the network runs.
#pragma once

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
#include "protocols/type_list.h"

namespace turno {

using Locks = List<Central, Lamport, RicartAgrawala, CarvalhoRoucairol, Maekawa, TokenRing,
                   SuzukiKasami, Raymond, RaymondPiggyback, NaimiTrehel, Nxr, NxrB, NxrBh, Dir>;

}  // namespace turno

// Which desk each kind of thing has.
#pragma once

#include "cluster/desk.h"
#include "cluster/pool.h"
#include "cluster/room.h"
#include "cluster/store.h"

namespace turno::cluster {

template <Protocol P>
struct DeskFor {
  using Type = Desk<P>;
};
template <Protocol P>
requires(P::info.primitive == Primitive::semaphore) struct DeskFor<P> {
  using Type = Pool<P>;
};
template <Protocol P>
requires(P::info.primitive == Primitive::room) struct DeskFor<P> {
  using Type = Room<P>;
};
template <Protocol P>
requires(P::info.primitive == Primitive::reservation) struct DeskFor<P> {
  using Type = Store<P>;
};

}  // namespace turno::cluster

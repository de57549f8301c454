#include "cluster/view.h"

#include <unistd.h>

#include "core/assert.h"

namespace turno::cluster {

std::uint64_t random_id() {
  for (;;) {
    std::uint64_t id = 0;
    TURNO_ASSERT(::getentropy(&id, sizeof id) == 0);
    id >>= 1;
    if (id != 0) return id;
  }
}

}  // namespace turno::cluster

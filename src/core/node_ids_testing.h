// Nodes with short names.
#pragma once

#include "core/node_id.h"

namespace turno {

inline constexpr NodeId a{0}, b{1}, c{2};

}  // namespace turno

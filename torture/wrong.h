// What wrong versions of algorithms have in common: they are made as the right ones.
#pragma once

#include <span>

#include "core/holding.h"
#include "core/node_id.h"
#include "core/setup.h"

namespace turno::torture {

template <class Self, class Right>
struct Wrong : Right {
  static Self resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Self node;
    static_cast<Right&>(node) = Right::resume(setup, self, holdings);
    return node;
  }
};

}  // namespace turno::torture

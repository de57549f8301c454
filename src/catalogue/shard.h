// The instantiations are compiled in several translation units, each a part of the list, so that a
// build can use all cores. CMake makes shard_0.cc, shard_1.cc, ... from shard.cc.in.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "catalogue/catalogue.h"

namespace turno {

void fill_from_all_shards(std::span<Algorithm> algorithms, std::span<Algorithm> printed);

template <std::size_t Shard>
void fill_shard(std::span<Algorithm> algorithms, std::span<Algorithm> printed);

}  // namespace turno

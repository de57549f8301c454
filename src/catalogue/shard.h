// The instantiations are compiled in several translation units, each a part of the list, so that a
// build can use all cores. CMake makes shard_0.cc, shard_1.cc, ... from shard.cc.in.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "catalogue/catalogue.h"

namespace turno {

void fill_from_all_shards(std::vector<Algorithm>& algorithms, std::vector<Algorithm>& printed);

template <std::size_t Shard>
void fill_shard(std::vector<Algorithm>& algorithms, std::vector<Algorithm>& printed);

}  // namespace turno

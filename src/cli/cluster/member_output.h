// Members of a cluster, printed: where they listen.
#pragma once

#include <string>
#include <vector>

#include "cluster/view.h"
#include "core/text/json.h"

namespace turno::cli {

std::string members_table(const std::vector<cluster::Member>& members);
Json member_json(const cluster::Member& member);

}  // namespace turno::cli

// Who may become a member, and on what terms.
#pragma once

#include "cluster/registry.h"
#include "cluster/view.h"

namespace turno::cluster {

// Whether these are values that a registry takes.
Expected<void> check_candidate(const Member& candidate, const Settings& wanted);

// Adds the candidate to a view without dead members, or says why not. Who finds nobody fixes the
// settings.
Expected<void> admit(const Member& candidate, const Settings& wanted, View& view);

}  // namespace turno::cluster

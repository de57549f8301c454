// Who may become a member, and on what terms.
#pragma once

#include "cluster/view.h"
#include "registry/registry.h"

namespace turno::registry {

// Whether these are values that a registry takes.
Expected<void> check_candidate(const Member& candidate, const Settings& wanted);

// Adds the candidate to a view without dead members, or says why not. Who finds nobody fixes the
// settings.
Expected<void> admit(const Member& candidate, const Settings& wanted, View& view);

}  // namespace turno::registry

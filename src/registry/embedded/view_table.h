// The view as rows in a database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/view.h"
#include "registry/embedded/database.h"
#include "registry/registry.h"
#include "registry/succession.h"

namespace turno::registry {

struct StoredView {
  View view;
  // Of each member: where its pid means something (its pid namespace).
  std::vector<std::string> process_spaces;
};

// All three inside a transaction that the caller began.
Expected<void> create_view_table(Database& database);  // if there is none yet
Expected<StoredView> load_view(Database& database);
Expected<void> store_view(Database& database, const StoredView& stored);

}  // namespace turno::registry

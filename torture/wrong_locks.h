// Lock algorithms without one of their rules, which let two in. Beside those that the algorithms
// have themselves (`departures`), which the checker refutes: none of these breaks exclusion.
#pragma once

#include <memory>
#include <string_view>

#include "table/engine.h"

namespace turno::torture {

struct WrongLock {
  std::string_view algorithm, name;
  // Nothing: for another algorithm.
  std::unique_ptr<table::LockEngine> (*make)(std::string_view algorithm);
};

// Nothing: there is none.
const WrongLock* wrong_lock(std::string_view algorithm, std::string_view name);

}  // namespace turno::torture

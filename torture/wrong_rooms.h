// Algorithms of rooms and of reservations without one of their rules, as wrong_locks.h has them of
// locks.
#pragma once

#include <memory>
#include <string_view>

#include "table/engine.h"

namespace turno::torture {

struct WrongRoom {
  std::string_view name;
  std::unique_ptr<table::PoolEngine> (*make)();
};
// Nothing: there is none.
const WrongRoom* wrong_room(std::string_view name);

struct WrongStore {
  std::string_view allocator, name;
  // Nothing: for another allocator.
  std::unique_ptr<table::PoolEngine> (*make)(std::string_view allocator);
};
// Nothing: there is none.
const WrongStore* wrong_store(std::string_view allocator, std::string_view name);

}  // namespace turno::torture

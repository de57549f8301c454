// Every algorithm by name, with what can be done with it. The templates of the simulator and the
// checker are instantiated here and nowhere else (entry.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/options.h"
#include "core/protocol.h"
#include "sim/options.h"

namespace turno {

// What may happen to the nodes of an algorithm, because it has a rule for it.
struct Abilities {
  bool crashes = false, suspicions = false, recoveries = false, timers = false, withdrawals = false;
  bool parts = false;  // a node holds several units, and gives them back in parts
};

struct Algorithm {
  // See protocols/algorithms.list.
  enum class Kind : std::uint8_t { lock, semaphore, room, reservation, lab, published };

  Info info;
  Kind kind = Kind::lab;
  Abilities abilities{};
  check::Result (*check)(const check::Options&) = nullptr;
  sim::Result (*simulate)(const sim::Options&) = nullptr;  // null for what is as published
  // Messages per entry when nobody competes, if there is an exact formula.
  double (*alone)(const Setup&) = nullptr;
  std::span<const Departure> departures;
};

// All, in the order of the list; the locks come first.
std::span<const Algorithm> algorithms();
std::span<const Algorithm> locks();
// What is printed wrongly. The name is that of the algorithm that is right.
std::span<const Algorithm> printed();

// Null if there is none of that name.
const Algorithm* find_algorithm(std::string_view name);
const Algorithm* find_lock(std::string_view name);

// A departure and where it is implemented; `number` goes into Setup::departure.
struct Refutable {
  const Algorithm* algorithm;
  const Departure* departure;
  std::uint8_t number;
  bool published;
};
std::vector<Refutable> refutable();

}  // namespace turno

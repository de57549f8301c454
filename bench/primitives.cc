// Semaphores, rooms, reservations and elections on real processes, beside what else people take, in
// one run on one machine: the ratios count, not the numbers.
#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "families.h"

namespace turno::bench {
namespace {

struct Family {
  std::string_view name;
  void (*run)(Place&);
};

template <auto make>
void compare(Place& place) {
  auto groups = make(place);
  measure(groups, place.rounds());
  print(groups);
}

constexpr Family families[] = {
    {"semaphores", compare<semaphores>},     {"rooms", compare<rooms>},
    {"reservations", compare<reservations>}, {"elections", compare<elections>},
    {"permits", permits_beside_a_lock},      {"dead-member", dead_member}};

int usage() {
  fmt::print(stderr, "usage: bench_primitives TURNO [ONLY [SECONDS [ROUNDS]]]\nONLY is all");
  for (const auto& family : families) fmt::print(stderr, ", {}", family.name);
  fmt::print(stderr, "\n");
  return 64;
}

int run(const std::string& turno, std::string_view only, double seconds, int rounds) {
  Place place(turno, std::chrono::milliseconds(static_cast<int>(seconds * 1000)), rounds);
  bool known = false;
  for (const auto& family : families)
    if (only == "all" || only == family.name) {
      known = true;
      family.run(place);
    }
  return known ? 0 : usage();
}

}  // namespace
}  // namespace turno::bench

int main(int argc, char** argv) {
  if (argc < 2) return turno::bench::usage();
  try {
    return turno::bench::run(argv[1], argc > 2 ? argv[2] : "all",
                             argc > 3 ? std::atof(argv[3]) : 0.5,
                             argc > 4 ? std::atoi(argv[4]) : 3);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_primitives: {}\n", error.what());
    return 125;
  }
}

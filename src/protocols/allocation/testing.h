// For tests of allocations: sites, resources and what is asked for, written briefly.
#pragma once

#include <initializer_list>

#include "protocols/allocation/config.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "protocols/testing.h"

namespace turno::testing {

// Sites of these sizes, types with so many instances.
inline Setup sited(std::initializer_list<std::size_t> sites,
                   std::initializer_list<std::size_t> types = {}, std::uint32_t preference = 1) {
  std::size_t nodes = 0;
  for (auto size : sites) nodes += size;
  auto setup = shaped(Topology::complete, nodes);
  std::uint16_t site = 0, type = 0;
  for (auto size : sites) {
    setup.sites.of.insert(setup.sites.of.end(), size, site);
    ++site;
  }
  for (auto instances : types) {
    setup.resources.type_of.insert(setup.resources.type_of.end(), instances, type);
    ++type;
  }
  setup.configure<SiteQueue::Config>().preference = preference;
  return setup;
}

// So many of type 0, of type 1 and so on.
inline Wish needing(std::initializer_list<std::uint16_t> counts) {
  Wish wish;
  std::uint16_t type = 0;
  for (auto count : counts) {
    if (count > 0) wish.needs.push_back({type, count});
    ++type;
  }
  return wish;
}

// The instances of a grant.
inline std::vector<std::uint32_t> instances(const TraceStep& step) {
  std::vector<std::uint32_t> numbers;
  for (const auto& unit : step.units) numbers.push_back(unit.number);
  return numbers;
}

}  // namespace turno::testing

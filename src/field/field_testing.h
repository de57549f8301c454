// For tests: a small system of any algorithm.
#pragma once

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "field/actor.h"
#include "protocols/election/config.h"
#include "sim/options.h"

namespace turno::field::testing {

inline constexpr Time ms = 1'000'000;

// A busy system of about five nodes, whatever the algorithm.
inline sim::Options system(const Info& info) {
  sim::Options options;
  System system{.nodes = 5};
  if (info.primitive == Primitive::room) system.groups = 2;
  options.setup = make_setup(info, system);
  options.fifo = info.fifo;
  options.arrivals = sim::parse_arrivals("closed:exp:4ms");
  options.hold = sim::Distribution::constant(1 * ms);
  options.delay = sim::Distribution::uniform(0, 2 * ms);
  options.entries = 60;
  switch (info.primitive) {
    case Primitive::semaphore:
      options.setup.permits = 2;
      break;
    case Primitive::room:
      for (std::size_t i = 2; i < 5; ++i) options.requesters.insert(NodeId{i});
      options.wish = [](NodeId, Random& random) {
        return Wish{.group = static_cast<std::uint32_t>(random.below(2))};
      };
      break;
    case Primitive::reservation:
      options.setup.resources.type_of = {0, 0, 1, 1};
      options.wish = [](NodeId, Random& random) {
        return Wish{.needs = {{static_cast<std::uint16_t>(random.below(2)), 2}}};
      };
      break;
    case Primitive::election:
      options.setup.configure<protocols::ElectionConfig>().patience = {
          .answer_within_ns = 50 * ms, .finish_within_ns = 200 * ms, .ask_every_ns = 50 * ms};
      options.faults.crashes = {{100 * ms, NodeId{4}}};
      options.until = 500 * ms;
      break;
    default:
      break;
  }
  if (info.sites) options.setup.sites.of = {0, 0, 1, 1, 2};
  if (info.sites) options.sites.remote = sim::Distribution::constant(4 * ms);
  return options;
}

}  // namespace turno::field::testing

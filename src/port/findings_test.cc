#include "port/findings.h"

#include <gtest/gtest.h>

namespace turno::port {
namespace {

NodeSighting seen(Thing thing, Sighting::Kind kind) {
  return {.node = "a", .sighting = {.lock = "x", .kind = kind, .thing = thing}};
}

// After a crash every lock is kept of which nobody knows whether the dead had it.
TEST(ThingFound, IsWhatSomebodyHasOrWants) {
  using Kind = Sighting::Kind;
  EXPECT_EQ(thing_found({}), std::nullopt);
  EXPECT_EQ(
      thing_found({.found = {seen(Thing::room, Kind::holds), seen(Thing::lock, Kind::waits)}}),
      Thing::lock);
  EXPECT_EQ(thing_found({.found = {seen(Thing::lock, Kind::kept)}}), Thing::lock);
  EXPECT_EQ(
      thing_found({.found = {seen(Thing::lock, Kind::kept), seen(Thing::election, Kind::waits)}}),
      Thing::election);
}

}  // namespace
}  // namespace turno::port

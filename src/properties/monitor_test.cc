#include "properties/monitor.h"

#include <gtest/gtest.h>

namespace turno {
namespace {

constexpr NodeId a{0}, b{1}, c{2};
Fence fence(std::uint64_t count) { return Fence::at(1, count); }

template <Primitive Kind>
Monitor<Kind> watching(const Setup& setup) {
  Monitor<Kind> monitor;
  monitor.begin(setup);
  return monitor;
}

TEST(LockMonitor, SeesTwoInsideAndFencesThatDoNotGrow) {
  const turno::Setup setup;
  auto monitor = watching<Primitive::lock>(setup);
  EXPECT_FALSE(monitor.enter(setup, {.node = a, .fence = fence(1)}));
  EXPECT_EQ(monitor.enter(setup, {.node = b, .fence = fence(2)}).property, "exclusion");
  monitor.leave(a);
  monitor.leave(b);
  EXPECT_EQ(monitor.enter(setup, {.node = c, .fence = fence(2)}).property, "fence");
}

TEST(SemaphoreMonitor, CountsPermitsAndKeepsThemApart) {
  turno::Setup setup;
  setup.permits = 2;
  auto monitor = watching<Primitive::semaphore>(setup);
  const auto enter = [&](NodeId node, std::uint32_t permit, std::uint64_t count) {
    const Unit unit{permit, fence(count)};
    return monitor.enter(setup, {.node = node, .fence = unit.fence, .units = {&unit, 1}});
  };
  EXPECT_FALSE(enter(a, 0, 5));
  EXPECT_FALSE(enter(b, 1, 3));  // fences belong to a permit
  EXPECT_EQ(enter(c, 1, 6).property, "exclusion");
  monitor.leave(c);
  monitor.leave(b);
  EXPECT_EQ(enter(b, 0, 6).text, "two nodes hold permit 0");
  monitor.leave(b);
  EXPECT_EQ(enter(c, 1, 3).property, "fence");
  monitor.leave(c);
  EXPECT_EQ(enter(c, 2, 9).property, "addressee");
}

TEST(SemaphoreMonitor, KnowsSeveralPermitsOfANodeAndTheirOrder) {
  turno::Setup setup;
  setup.permits = 3;
  auto monitor = watching<Primitive::semaphore>(setup);
  monitor.expect_order();
  const auto enter = [&](NodeId node, std::uint16_t wanted, std::vector<Unit> units) {
    const Need need{0, wanted};
    return monitor.enter(setup, {.node = node,
                                 .demand = {.needs = {&need, 1}},
                                 .fence = units.front().fence,
                                 .units = units});
  };
  EXPECT_FALSE(enter(a, 2, {{0, fence(2)}, {1, fence(2)}}));
  EXPECT_EQ(monitor.inside(), 2U);
  monitor.give_back(0);
  EXPECT_EQ(enter(b, 1, {{0, fence(3)}, {2, fence(3)}}).property, "addressee");
  monitor.leave(b);
  EXPECT_EQ(enter(b, 1, {{2, fence(1)}}).property, "fence");
  EXPECT_EQ(enter(c, 2, {{0, fence(4)}, {1, fence(4)}}).property, "exclusion");
}

TEST(RoomMonitor, KeepsGroupsApartAndSessionsInOrder) {
  turno::Setup setup;
  setup.room.capacity = {9, 2};
  auto monitor = watching<Primitive::room>(setup);
  const auto enter = [&](NodeId node, std::uint32_t group, std::uint64_t count) {
    return monitor.enter(setup, {.node = node, .demand = {.group = group}, .fence = fence(count)});
  };
  EXPECT_FALSE(enter(a, 1, 4));
  EXPECT_FALSE(enter(b, 1, 4));
  EXPECT_EQ(enter(c, 1, 4).property, "exclusion");  // more than its capacity
  monitor.leave(c);
  EXPECT_EQ(enter(c, 0, 5).property, "exclusion");
  monitor.leave(a);
  monitor.leave(b);
  monitor.leave(c);
  EXPECT_FALSE(enter(a, 0, 6));
  monitor.leave(a);
  EXPECT_EQ(enter(a, 1, 6).property, "fence");  // as old as the other group's session
  monitor.leave(a);
  EXPECT_FALSE(enter(a, 1, 7));
}

TEST(ReservationMonitor, GivesEachInstanceOnceAndWhatWasAskedFor) {
  turno::Setup setup;
  setup.resources.type_of = {0, 0, 1};
  auto monitor = watching<Primitive::reservation>(setup);
  const std::vector<Need> needs = {{0, 1}, {1, 1}};
  const auto enter = [&](NodeId node, std::vector<Unit> units) {
    return monitor.enter(setup, {.node = node, .demand = {.needs = needs}, .units = units});
  };
  EXPECT_FALSE(enter(a, {{0, fence(1)}, {2, fence(1)}}));
  EXPECT_EQ(enter(b, {{1, fence(1)}, {2, fence(2)}}).text, "two nodes hold instance 2");
  monitor.leave(a);
  monitor.leave(b);
  EXPECT_EQ(enter(c, {{0, fence(2)}, {1, fence(2)}}).property, "exclusion");  // two of one type
  monitor.leave(c);
  EXPECT_EQ(enter(c, {{0, fence(2)}, {2, fence(9)}}).property, "fence");
}

TEST(Monitor, KnowsWhoIsInsideFromTheStartWithWhat) {
  turno::Setup setup;
  setup.permits = 2;
  setup.resources.type_of = {0, 0};
  auto semaphore = watching<Primitive::semaphore>(setup);
  semaphore.hold({a, 0, {1}});
  const Unit one{1, fence(1)};
  EXPECT_EQ(semaphore.enter(setup, {.node = b, .fence = one.fence, .units = {&one, 1}}).text,
            "two nodes hold permit 1");
  auto reservation = watching<Primitive::reservation>(setup);
  reservation.hold({a, 0, {0, 1}});
  const Need need{0, 1};
  const Entry entry{b, {.needs = {&need, 1}}, one.fence, {&one, 1}};
  EXPECT_EQ(reservation.enter(setup, entry).text, "two nodes hold instance 1");
  reservation = watching<Primitive::reservation>(setup);
  reservation.hold({a, 0, {0, 1}});
  reservation.leave(a);
  EXPECT_FALSE(reservation.enter(setup, entry));
  auto room = watching<Primitive::room>(setup);
  room.hold({.seat = a, .group = 1});
  EXPECT_FALSE(room.enter(setup, {.node = b, .demand = {.group = 1}, .fence = fence(1)}));
  EXPECT_EQ(room.enter(setup, {.node = c, .demand = {.group = 2}, .fence = fence(2)}).property,
            "exclusion");
}

}  // namespace
}  // namespace turno

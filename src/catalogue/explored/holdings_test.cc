// Recovery starts an algorithm with somebody inside. From every legal set of holdings, in small
// systems, every algorithm excludes, serves everybody and lets its holders give back what they had.
// The larger systems are for TURNO_DEEP=1 (make check-deep).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalogue/catalogue.h"
#include "catalogue/resources.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"
#include "check/explorer.h"
#include "core/text/describe.h"
#include "protocols/allocation/central_allocator.h"
#include "protocols/group/quorum_group.h"
#include "protocols/kmutex/robust_k.h"
#include "protocols/mutex/permission/central.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "sim/demands.h"

namespace turno {

using namespace protocols;
namespace {

using check::Channels;
using check::Verdict;
using Held = std::vector<Holding>;

// ---- every legal set of holdings

std::vector<Held> of_a_lock(std::size_t nodes) {
  std::vector<Held> all = {{}};
  for (std::size_t i = 0; i < nodes; ++i) all.push_back({{.seat = NodeId{i}}});
  return all;
}

// Each unit is free or with one of the seats. REQUIRES: pred(held) decides which are legal.
template <class Legal>
std::vector<Held> assignments(std::size_t nodes, std::size_t units, Legal legal) {
  std::vector<Held> all;
  std::size_t ways = 1;
  for (std::size_t unit = 0; unit < units; ++unit) ways *= nodes + 1;
  for (std::size_t way = 0; way < ways; ++way) {
    Held held;
    auto digits = way;
    for (std::uint32_t unit = 0; unit < units; ++unit, digits /= nodes + 1) {
      const auto owner = digits % (nodes + 1);
      if (owner == nodes) continue;
      const auto found = std::find_if(held.begin(), held.end(),
                                      [&](const Holding& h) { return h.seat == NodeId{owner}; });
      if (found == held.end()) {
        held.push_back({NodeId{owner}, 0, {unit}});
      } else {
        found->units.push_back(unit);
      }
    }
    if (legal(held)) all.push_back(std::move(held));
  }
  return all;
}

// A seat has one slot at most.
std::vector<Held> of_a_semaphore(std::size_t nodes, std::uint32_t permits, bool named) {
  auto all = assignments(nodes, permits, [](const Held& held) {
    return std::all_of(held.begin(), held.end(),
                       [](const Holding& holding) { return holding.units.size() == 1; });
  });
  if (named) return all;
  for (auto& held : all) {
    for (auto& holding : held) holding.units.clear();
    std::sort(held.begin(), held.end(),
              [](const Holding& a, const Holding& b) { return a.seat < b.seat; });
  }
  const auto seats = [](const Held& held) {
    std::vector<NodeId> nodes_of;
    for (const auto& holding : held) nodes_of.push_back(holding.seat);
    return nodes_of;
  };
  std::sort(all.begin(), all.end(),
            [&](const Held& a, const Held& b) { return seats(a) < seats(b); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Nobody, or some processes of one group.
std::vector<Held> of_a_room(const RoomSetup& room, std::size_t nodes) {
  std::vector<Held> all = {{}};
  const auto processes = nodes - room.groups;
  for (std::uint32_t group = 0; group < room.groups; ++group) {
    for (std::size_t set = 1; set < std::size_t{1} << processes; ++set) {
      Held held;
      for (std::size_t i = 0; i < processes; ++i)
        if (((set >> i) & 1U) != 0) held.push_back({NodeId{room.groups + i}, group});
      if (held.size() <= room.capacity_of(NodeId{group})) all.push_back(std::move(held));
    }
  }
  return all;
}

// Two users at most have something.
std::vector<Held> of_a_reservation(std::size_t nodes, std::size_t instances) {
  return assignments(nodes, instances, [](const Held& held) { return held.size() <= 2; });
}

// ---- explored

std::string named(const Held& held) {
  std::string text = "held:";
  for (const auto& holding : held) {
    text += " " + describe(holding.seat) + " of group " + std::to_string(holding.group) + " (";
    for (auto unit : holding.units) text += " " + std::to_string(unit);
    text += " )";
  }
  return text;
}

void expect_holds(const Algorithm& algorithm, check::Options options, const std::vector<Held>& all,
                  const std::string& system) {
  for (const auto& held : all) {
    options.holdings = held;
    const auto result = algorithm.check(options);
    EXPECT_EQ(result.verdict, Verdict::holds)
        << algorithm.info.name << ", " << system << ", " << named(held) << "\n"
        << testing::shown(result);
  }
}

check::Options options_of(const Info& info, std::size_t nodes) {
  check::Options options;
  options.setup = make_setup(info, {.nodes = nodes});
  options.channels = info.fifo ? Channels::fifo : Channels::unordered;
  return options;
}

std::vector<const Algorithm*> all_of(Primitive primitive) {
  std::vector<const Algorithm*> all;
  for (const auto& algorithm : algorithms())
    if (algorithm.info.primitive == primitive) all.push_back(&algorithm);
  return all;
}

// A system of so many nodes of one site, or of several.
std::vector<std::string_view> sites_of(const Info& info, std::size_t nodes) {
  if (!info.sites) return {""};
  if (nodes == 2) return {"", "1,1"};
  return {"2,1"};
}
void place(Setup& setup, std::string_view sites) {
  if (!sites.empty()) setup.sites.of = parse_sites(sites, 0);
  setup.configure<SiteQueue::Config>().preference = 1;
}

TEST(Holdings, OfEveryLock) {
  for (const auto* lock : all_of(Primitive::lock)) {
    for (const std::size_t nodes : {2U, 3U}) {
      for (const auto sites : sites_of(lock->info, nodes)) {
        auto options = options_of(lock->info, nodes);
        place(options.setup, sites);
        if (testing::deep()) options.requests = 2;
        expect_holds(*lock, options, of_a_lock(nodes), std::to_string(nodes) + " nodes");
      }
    }
  }
}

TEST(Holdings, OfEveryLockOnEveryTree) {
  for (const auto* lock : all_of(Primitive::lock)) {
    if (lock->info.shape != Shape::tree) continue;
    for (const auto& setup : make_setups_of_all_trees(lock->info, {.nodes = 3})) {
      check::Options options;
      options.setup = setup;
      options.channels = lock->info.fifo ? Channels::fifo : Channels::unordered;
      expect_holds(*lock, options, of_a_lock(3), "3 nodes in a tree");
    }
  }
}

void expect_semaphore_holds(const Algorithm& semaphore, std::size_t nodes, bool direct,
                            std::uint32_t crashes) {
  const bool has_names = semaphore.info.name != "raymond-k";
  for (std::uint32_t permits = 1; permits <= nodes; ++permits) {
    auto options = options_of(semaphore.info, nodes);
    options.setup.permits = permits;
    options.setup.configure<RobustK::Config>().direct = direct;
    options.faults.crashes = crashes;
    expect_holds(semaphore, options, of_a_semaphore(nodes, permits, has_names),
                 std::to_string(permits) + " permits of " + std::to_string(nodes) +
                     (direct ? " nodes" : " nodes, along the tree"));
  }
}

TEST(Holdings, OfEverySemaphore) {
  for (const auto* semaphore : all_of(Primitive::semaphore)) {
    for (const std::size_t nodes : {2U, 3U}) expect_semaphore_holds(*semaphore, nodes, true, 0);
  }
  const auto& robust = *find_algorithm("robust-k");
  for (const bool direct : {true, false}) expect_semaphore_holds(robust, 2, direct, 1);
  if (testing::deep()) expect_semaphore_holds(robust, 3, false, 0);
}

TEST(Holdings, OfEveryRoom) {
  for (const auto* room : all_of(Primitive::room)) {
    for (const std::size_t processes : {2U, 3U}) {
      for (const auto door : {Door::demand, Door::leader, Door::closed}) {
        for (const bool limited : {false, true}) {
          if (processes > 2 && limited && !testing::deep()) continue;
          const System system{.nodes = 2 + processes, .quorums = "01,01", .groups = 2};
          check::Options options;
          options.setup = make_setup(room->info, system);
          options.setup.configure<QuorumGroup::Config>() = {
              .door = door, .duplicates = limited, .separate_fences = limited};
          options.faults.duplicates = limited ? 1 : 0;
          if (limited) options.setup.room.capacity = {1, 2};
          options.menus = {{{.group = 0}, {.group = 1}}};
          for (std::size_t i = 0; i < processes; ++i) options.requesters.insert(NodeId{2 + i});
          expect_holds(*room, options, of_a_room(options.setup.room, system.nodes),
                       "door " + std::to_string(static_cast<int>(door)));
        }
      }
    }
  }
}

TEST(Holdings, OfEveryReservation) {
  for (const auto* reservation : all_of(Primitive::reservation)) {
    const std::vector<std::pair<std::size_t, std::string_view>> systems =
        testing::deep() ? std::vector<std::pair<std::size_t, std::string_view>>{{3, "2,1"}}
                        : std::vector<std::pair<std::size_t, std::string_view>>{
                              {2, "1,1"}, {2, "2,1"}, {3, "1,1"}, {3, "2"}};
    for (const auto& [nodes, instances] : systems) {
      for (const auto sites : sites_of(reservation->info, nodes)) {
        auto options = options_of(reservation->info, nodes);
        place(options.setup, sites);
        auto& resources = options.setup.resources;
        resources.type_of = parse_instances({}, instances);
        options.setup.configure<AllocationConfig>() = {.driver_chooses = true, .bypasses = 1};
        options.menus = {sim::all_demands(resources, SIZE_MAX)};
        expect_holds(*reservation, options, of_a_reservation(nodes, resources.type_of.size()),
                     std::string(instances) + " for " + std::to_string(nodes));
      }
    }
  }
}

TEST(Holdings, AreAllThereAre) {
  EXPECT_EQ(of_a_lock(3).size(), 4U);
  EXPECT_EQ(of_a_semaphore(3, 2, true).size(), 1U + 6 + 6);
  EXPECT_EQ(of_a_semaphore(3, 2, false).size(), 1U + 3 + 3);
  EXPECT_EQ(of_a_semaphore(3, 3, true).size(), 1U + 9 + 18 + 6);
  EXPECT_EQ(of_a_room({.groups = 2, .capacity = {1}}, 4).size(), 1U + 2 + 3);
  EXPECT_EQ(of_a_reservation(3, 3).size(), 64U - 6);
}

// ---- what is forgotten is found

// One of the nodes (Setup::departure, from 1 on) is not told who holds what.
template <class P>
struct Forgetful : P {
  bool operator==(const Forgetful&) const = default;
  static Forgetful resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    const bool forgets = self.index() + 1 == setup.departure;
    return {P::resume(setup, self, forgets ? std::span<const Holding>{} : holdings)};
  }
};

template <class P>
check::Result when_forgotten_by(std::uint8_t node, const Held& held) {
  check::Options options;
  options.setup = make_setup(P::info, {.nodes = 3});
  options.setup.departure = static_cast<std::uint8_t>(node + 1);
  options.setup.resources.type_of = {0, 0};
  options.menus = {{{.needs = {{0, 2}}}}};
  options.holdings = held;
  return check::Explorer<Forgetful<P>>(options).run();
}

TEST(ForgottenHoldings, AreRefuted) {
  const std::uint8_t coordinator = 0;  // of both
  EXPECT_EQ(when_forgotten_by<Central>(coordinator, {{.seat = NodeId{1}}}).property, "exclusion");
  EXPECT_EQ(when_forgotten_by<CentralAllocator>(coordinator, {{NodeId{1}, 0, {1}}}).property,
            "exclusion");
  const auto lost = when_forgotten_by<CentralAllocator>(1, {{NodeId{1}, 0, {1}}});
  EXPECT_EQ(lost.verdict, Verdict::violated) << "it cannot give back what it does not know of";
  EXPECT_NE(lost.property, "exclusion");
  EXPECT_EQ(when_forgotten_by<CentralAllocator>(2, {{NodeId{1}, 0, {1}}}).verdict, Verdict::holds)
      << "who has nothing need not know";
}

}  // namespace
}  // namespace turno

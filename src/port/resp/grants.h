// What a session has of things that several may have at once: permits of semaphores, visits of
// rooms, resources of stores. One grant is found by its ticket, or by what it is of, in a number of
// steps that hardly grows with how many there are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "port/host.h"

namespace turno::port {

struct HeldPermits {  // or a room that it is in, or resources
  Thing thing = Thing::semaphore;
  std::string name;
  Fence fence;
  net::Loop::Timer ttl;
  std::uint64_t ticket = 0;  // of the wait that got it
  std::vector<std::uint32_t> permits;
  std::vector<Resource> resources;
  std::string group;  // of a room
};

template <class Less = std::less<>>
class GrantsInOrder {
 public:
  GrantsInOrder() = default;
  GrantsInOrder(GrantsInOrder&&) = default;
  GrantsInOrder& operator=(GrantsInOrder&&) = default;

  // REQUIRES: there is none of this ticket.
  HeldPermits& add(HeldPermits held) {
    auto& added = by_ticket_.emplace(held.ticket, std::move(held)).first->second;
    by_thing_.insert(key_of(added));
    return added;
  }
  HeldPermits take(std::uint64_t ticket) {
    const auto found = by_ticket_.find(ticket);
    by_thing_.erase(key_of(found->second));
    auto taken = std::move(found->second);
    by_ticket_.erase(found);
    return taken;
  }

  // Null: there is none.
  [[nodiscard]] const HeldPermits* find(std::uint64_t ticket) const {
    const auto found = by_ticket_.find(ticket);
    return found == by_ticket_.end() ? nullptr : &found->second;
  }
  // Of this thing, with this fence if one is given: the first, and the one behind another. Of those
  // with one fence (all who are in a room together have it) the oldest comes first.
  [[nodiscard]] HeldPermits* first(Thing thing, std::string_view name, Fence fence) {
    return at(by_thing_.lower_bound({thing, name, fence, 0}), thing, name, fence);
  }
  [[nodiscard]] HeldPermits* next(const HeldPermits& held, Fence fence) {
    return at(by_thing_.upper_bound(key_of(held)), held.thing, held.name, fence);
  }

  // By age.
  [[nodiscard]] auto begin() { return by_ticket_.begin(); }
  [[nodiscard]] auto end() { return by_ticket_.end(); }
  [[nodiscard]] auto begin() const { return by_ticket_.begin(); }
  [[nodiscard]] auto end() const { return by_ticket_.end(); }
  [[nodiscard]] bool empty() const { return by_ticket_.empty(); }
  [[nodiscard]] std::size_t size() const { return by_ticket_.size(); }

 private:
  using Key = std::tuple<Thing, std::string_view, Fence, std::uint64_t>;
  using ByThing = std::set<Key, Less>;

  static Key key_of(const HeldPermits& held) {
    return {held.thing, held.name, held.fence, held.ticket};
  }
  HeldPermits* at(typename ByThing::const_iterator place, Thing thing, std::string_view name,
                  Fence fence) {
    if (place == by_thing_.end() || std::get<0>(*place) != thing || std::get<1>(*place) != name)
      return nullptr;
    if (fence != Fence{} && std::get<2>(*place) != fence) return nullptr;
    return &by_ticket_.find(std::get<3>(*place))->second;
  }

  std::map<std::uint64_t, HeldPermits> by_ticket_;
  ByThing by_thing_;  // the names are those of the others
};

using Grants = GrantsInOrder<>;

}  // namespace turno::port

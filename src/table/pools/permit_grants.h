// Who has permits of a semaphore or resources of a store, or is inside a room, at one node. A grant
// is found by its fence and its owner in a number of steps that hardly grows with how many there
// are: all who are in a room together have one fence, and one session may be there often.
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/line.h"
#include "cluster/resources.h"
#include "core/fence.h"

namespace turno::table {

struct Owner;

struct PermitGrant {
  cluster::UserId number = cluster::no_user;
  const Owner* owner = nullptr;
  Fence fence;
  boost::container::small_vector<std::uint32_t, 1> units;  // of a room: none
  std::string group;
  std::vector<cluster::Resource> resources;
  std::chrono::steady_clock::time_point since{};
};

class PermitGrants {
 public:
  // REQUIRES: there is none of this number.
  void add(PermitGrant grant) {
    by_fence_.emplace(grant.fence, grant.owner, grant.number);
    const auto number = grant.number;
    grants_.emplace(number, std::move(grant));
  }
  void erase(const PermitGrant& grant) {
    by_fence_.erase({grant.fence, grant.owner, grant.number});
    grants_.erase(grant.number);
  }
  // The oldest of this owner with this fence, or one of anybody. Null: there is none.
  [[nodiscard]] const PermitGrant* find(Fence fence, const Owner* owner) const {
    const auto found = by_fence_.lower_bound({fence, owner, cluster::no_user});
    if (found == by_fence_.end() || std::get<0>(*found) != fence) return nullptr;
    if (owner != nullptr && std::get<1>(*found) != owner) return nullptr;
    return &grants_.at(std::get<2>(*found));
  }

  // By their numbers: the oldest first.
  [[nodiscard]] auto begin() const { return grants_.begin(); }
  [[nodiscard]] auto end() const { return grants_.end(); }

 private:
  std::map<cluster::UserId, PermitGrant> grants_;
  // Pointers are compared for being the same only, and null comes before all others.
  std::set<std::tuple<Fence, const Owner*, cluster::UserId>> by_fence_;
};

}  // namespace turno::table

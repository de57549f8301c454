// What is said of the instances of resources: by users, who call a type by its name and an instance
// by its number within the type, and by algorithms, which number all instances through.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/fence.h"
#include "core/setup.h"

namespace turno::cluster {

inline constexpr std::size_t most_types = 64;          // of one store
inline constexpr std::uint32_t most_instances = 1024;  // of one store, of all types together

// What several users may have at once, so many of them: a group of a room, or a type of a store
// with its instances. What a run of the algorithm calls by its number, all others call by its name.
struct Group {
  std::string name;            // empty: nobody's, kept for members that died
  std::uint32_t capacity = 0;  // how many may be inside, or there are; 0: nobody has said it

  [[nodiscard]] bool shared() const { return capacity == RoomSetup::unlimited; }
  [[nodiscard]] auto fields() const { return std::tie(name, capacity); }
  bool operator==(const Group&) const = default;
};
using Groups = std::vector<Group>;

// Null: there is none of this name.
[[nodiscard]] inline const Group* find(const Groups& groups, std::string_view name) {
  for (const auto& group : groups)
    if (group.name == name) return &group;
  return nullptr;
}

// A user wants so many instances of one type.
struct Claim {
  std::string type;
  std::uint32_t count = 1;
  std::uint32_t instances = 0;  // how many there are, as the user says; 0: it does not say

  [[nodiscard]] auto fields() const { return std::tie(type, count, instances); }
  bool operator==(const Claim&) const = default;
};

// One instance of a type, and the fence with which somebody has it.
struct Resource {
  std::string type;
  std::uint32_t number = 0;  // from 0, within its type
  Fence fence{};

  [[nodiscard]] auto fields() const { return std::tie(type, number, fence); }
  bool operator==(const Resource&) const = default;
};

// ---- numbered through, in the order of the types

[[nodiscard]] inline std::uint64_t count_instances(const Groups& types) {
  std::uint64_t sum = 0;
  for (const auto& type : types) sum += type.capacity;
  return sum;
}
[[nodiscard]] inline std::optional<std::uint32_t> number_through(const Groups& types,
                                                                 const Resource& resource) {
  std::uint32_t first = 0;
  for (const auto& type : types) {
    if (type.name == resource.type)
      return resource.number < type.capacity ? std::optional(first + resource.number)
                                             : std::nullopt;
    first += type.capacity;
  }
  return {};
}
[[nodiscard]] inline std::optional<Resource> resource_of(const Groups& types, std::uint32_t unit) {
  for (const auto& type : types) {
    if (unit < type.capacity) return Resource{type.name, unit};
    unit -= type.capacity;
  }
  return {};
}

}  // namespace turno::cluster

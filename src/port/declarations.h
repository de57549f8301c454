// What a node has been told of things by their names, or the beginnings of their names, before
// anybody uses them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "table/desk_frames.h"

namespace turno::port {

// What is done against deadlocks. detect: they are reported. abort: and the wait of the youngest
// session ends. ordered: who has something may only ask for what comes later. collective: who has
// something may not ask for more.
enum class DeadlockPolicy : std::uint8_t { detect, abort, ordered, collective };
inline constexpr std::array<std::string_view, 4> deadlock_policies = {"detect", "abort", "ordered",
                                                                      "collective"};

// Nothing: there is no such policy.
[[nodiscard]] std::optional<DeadlockPolicy> policy_named(std::string_view name);

struct DeadlockRule {
  DeadlockPolicy policy = DeadlockPolicy::detect;
  std::uint32_t rank = 0;  // of what is ordered; what has the same rank is ordered by name

  bool operator==(const DeadlockRule&) const = default;
};

struct SemaphoreDeclaration {
  std::uint32_t permits = 0;
  std::string where = {};  // for people: "semaphores.gpu, /etc/turno.toml:3:1"

  bool operator==(const SemaphoreDeclaration&) const = default;
};

struct ResourceDeclaration {
  std::uint32_t instances = 0;
  std::string where = {};

  bool operator==(const ResourceDeclaration&) const = default;
};

// How many of one group of a room may be inside.
struct GroupDeclaration {
  std::uint32_t capacity = 0;
  std::string where = {};

  bool operator==(const GroupDeclaration&) const = default;
};

// Of which the types are declared, and which is meant unless another is named.
inline constexpr std::string_view usual_store = "resources";

class Declarations {
 public:
  // "gpu", or "build-*" for all names that begin with "build-". What is wrong with such a name, or
  // nothing.
  [[nodiscard]] static std::string wrong_with(std::string_view name);

  // REQUIRES for these two: nothing is wrong with the name
  void declare_semaphore(const std::string& name, SemaphoreDeclaration declaration) {
    semaphores_[name] = std::move(declaration);
  }
  // A type of the store that is used unless another is named.
  void declare_resource(const std::string& name, ResourceDeclaration declaration) {
    resources_[name] = std::move(declaration);
  }
  void declare_group(const std::string& room, const std::string& group,
                     GroupDeclaration declaration) {
    rooms_[room][group] = std::move(declaration);
  }
  // Of a store's types, by their names: those of the usual one.
  void declare_deadlocks(table::Thing thing, const std::string& name, DeadlockRule rule) {
    deadlocks_.at(static_cast<std::size_t>(thing))[name] = rule;
    refuses_ |= rule.policy >= DeadlockPolicy::ordered;
  }
  // For all that nothing else is declared of.
  void declare_deadlocks(DeadlockPolicy policy) {
    policy_ = policy;
    refuses_ |= policy >= DeadlockPolicy::ordered;
  }

  // For each of these: of several that fit, the name itself, or else the longest beginning.
  // Null: none does.
  [[nodiscard]] const SemaphoreDeclaration* semaphore(std::string_view name) const {
    return fitting(semaphores_, name);
  }
  [[nodiscard]] const ResourceDeclaration* resource(std::string_view name) const {
    return fitting(resources_, name);
  }
  [[nodiscard]] const GroupDeclaration* group(std::string_view room, std::string_view group) const {
    const auto* groups = fitting(rooms_, room);
    return groups == nullptr ? nullptr : fitting(*groups, group);
  }
  [[nodiscard]] DeadlockRule deadlock_rule(table::Thing thing, std::string_view name) const {
    const auto* rule = fitting(deadlocks_[static_cast<std::size_t>(thing)], name);
    return rule == nullptr ? DeadlockRule{.policy = policy_} : *rule;
  }
  // Some of these rules refuse requests.
  [[nodiscard]] bool refuses_requests() const { return refuses_; }
  [[nodiscard]] std::size_t size() const { return semaphores_.size(); }
  [[nodiscard]] std::size_t resources() const { return resources_.size(); }
  [[nodiscard]] std::size_t rooms() const { return rooms_.size(); }

 private:
  template <class T>
  using ByName = std::map<std::string, T, std::less<>>;  // as they were written

  template <class T>
  [[nodiscard]] static const T* fitting(const ByName<T>& declared, std::string_view name) {
    if (declared.empty()) return nullptr;
    if (const auto exact = declared.find(name); exact != declared.end()) return &exact->second;
    for (auto size = name.size() + 1; size-- > 0;) {
      const auto prefix = declared.find(std::string(name.substr(0, size)) + "*");
      if (prefix != declared.end()) return &prefix->second;
    }
    return nullptr;
  }

  ByName<SemaphoreDeclaration> semaphores_;
  ByName<ResourceDeclaration> resources_;
  ByName<ByName<GroupDeclaration>> rooms_;
  std::array<ByName<DeadlockRule>, table::thing_names.size()> deadlocks_;
  DeadlockPolicy policy_ = DeadlockPolicy::detect;
  bool refuses_ = false;
};

}  // namespace turno::port

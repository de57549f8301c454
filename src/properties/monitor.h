// Watches one shared thing from outside, as its users see it: who is inside with what, whether that
// is allowed, and whether fences only grow. A monitor is a small value: the checker keeps one in
// every world.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/assert.h"
#include "core/demand.h"
#include "core/fence.h"
#include "core/holding.h"
#include "core/node_id.h"
#include "core/setup.h"
#include "core/text/describe.h"

namespace turno {

// What is wrong with a grant; no property: nothing.
struct Complaint {
  std::string_view property;
  std::string text;

  [[nodiscard]] explicit operator bool() const { return !property.empty(); }
};

inline Complaint not_grown(Fence fence, Fence last, const std::string& of = "") {
  return {"fence", "fence " + describe(fence) + of + " is granted after fence " + describe(last)};
}

// A grant as a monitor sees it.
struct Entry {
  NodeId node;
  Demand demand;
  Fence fence;
  std::span<const Unit> units;
};

// For what has no users inside: elections and detectors.
template <Primitive>
class Monitor {
 public:
  void begin(const Setup& /*setup*/) {}
  void hold(const Holding& /*holding*/) {}  // from the start
  Complaint enter(const Setup& /*setup*/, const Entry& /*entry*/) { return {}; }
  void leave(NodeId /*node*/) {}
  [[nodiscard]] std::size_t inside() const { return 0; }
  [[nodiscard]] Fence last() const { return {}; }
  [[nodiscard]] auto fields() const { return std::tuple<>(); }
  bool operator==(const Monitor&) const = default;
};

// Never two inside.
template <>
class Monitor<Primitive::lock> {
 public:
  void begin(const Setup& setup) { last_ = Fence::at(setup.epoch); }
  void hold(const Holding& /*holding*/) { ++inside_; }
  Complaint enter(const Setup& /*setup*/, const Entry& entry) {
    const auto before = std::exchange(last_, std::max(last_, entry.fence));
    if (++inside_ > 1) return {"exclusion", "two nodes are inside at once"};
    return entry.fence > before ? Complaint{} : not_grown(entry.fence, before);
  }
  void leave(NodeId /*node*/) { --inside_; }
  [[nodiscard]] std::size_t inside() const { return inside_; }
  [[nodiscard]] Fence last() const { return last_; }
  [[nodiscard]] auto fields() const { return std::tie(last_, inside_); }
  bool operator==(const Monitor&) const = default;

 private:
  Fence last_;
  std::uint32_t inside_ = 0;
};

// Units that nobody shares: each has a holder, and its fences only grow.
class HeldUnits {
 public:
  void begin(std::size_t units) { units_.resize(units); }
  // REQUIRES: nobody has these units, and they exist.
  void hold(const Holding& holding) {
    for (auto unit : holding.units) {
      TURNO_ASSERT(unit < units_.size() && units_[unit].holder == nobody);
      units_[unit].holder = holding.seat;
    }
  }
  Complaint take(NodeId node, const Unit& unit, std::string_view name) {
    const auto called = std::string(name) + " " + std::to_string(unit.number);
    if (unit.number >= units_.size()) return {"addressee", "there is no " + called};
    auto& held = units_[unit.number];
    if (held.holder != nobody) return {"exclusion", "two nodes hold " + called};
    const auto before = std::exchange(held.last, unit.fence);
    held.holder = node;
    return unit.fence > before ? Complaint{} : not_grown(unit.fence, before, " of " + called);
  }
  void give_back(std::uint32_t unit) { units_[unit].holder = nobody; }
  // How many they were.
  std::uint32_t give_back_all(NodeId node) {
    std::uint32_t count = 0;
    for (auto& unit : units_) {
      if (unit.holder != node) continue;
      unit.holder = nobody;
      ++count;
    }
    return count;
  }
  template <class Visit>
  void for_each_of(NodeId node, Visit visit) const {
    for (std::uint32_t i = 0; i < units_.size(); ++i)
      if (units_[i].holder == node) visit(i);
  }
  [[nodiscard]] Fence last() const {
    Fence last;
    for (const auto& unit : units_) last = std::max(last, unit.last);
    return last;
  }
  [[nodiscard]] auto fields() const { return std::tie(units_); }
  bool operator==(const HeldUnits&) const = default;

 private:
  struct Held {
    Fence last;
    NodeId holder;
    [[nodiscard]] auto fields() const { return std::tie(last, holder); }
    bool operator==(const Held&) const = default;
  };
  boost::container::small_vector<Held, 3> units_;
};

// Never more permits in use than there are, and nobody shares one. A grant that names none only
// counts.
template <>
class Monitor<Primitive::semaphore> {
 public:
  void begin(const Setup& setup) { permits_.begin(setup.permits); }
  // From now on fences must grow over all permits together.
  void expect_order() { ordered_ = true; }
  void hold(const Holding& holding) {
    used_ += std::max<std::uint32_t>(1, static_cast<std::uint32_t>(holding.units.size()));
    permits_.hold(holding);
  }
  Complaint enter(const Setup& setup, const Entry& entry) {
    used_ += entry.demand.permits();
    if (used_ > setup.permits)
      return {"exclusion", std::to_string(used_) + " permits are in use at once, of " +
                               std::to_string(setup.permits)};
    nameless_ |= entry.units.empty();
    if (entry.units.empty()) return {};
    if (entry.units.size() != entry.demand.permits())
      return {"addressee", "a grant names " + std::to_string(entry.units.size()) +
                               " permits, and not as many as were asked for"};
    const auto before = permits_.last();
    for (const auto& unit : entry.units)
      if (auto complaint = permits_.take(entry.node, unit, "permit")) return complaint;
    const bool grown = entry.fence > before || !ordered_;
    return grown ? Complaint{} : not_grown(entry.fence, before);
  }
  void leave(NodeId node) { used_ -= std::max<std::uint32_t>(1, permits_.give_back_all(node)); }
  void give_back(std::uint32_t permit) {
    --used_;
    permits_.give_back(permit);
  }
  template <class Visit>
  void for_each_of(NodeId node, Visit visit) const {
    permits_.for_each_of(node, visit);
  }
  [[nodiscard]] std::size_t inside() const { return used_; }
  [[nodiscard]] Fence last() const { return std::max(permits_.last(), Fence{nameless_ ? 1U : 0U}); }
  [[nodiscard]] auto fields() const { return std::tie(permits_, nameless_, used_); }
  bool operator==(const Monitor&) const = default;

 private:
  HeldUnits permits_;
  bool ordered_ = false;
  bool nameless_ = false;  // somebody got a permit without a name
  std::uint32_t used_ = 0;
};

// Never two groups inside, and of one group never more than its capacity. Those of one session
// share its fence.
template <>
class Monitor<Primitive::room> {
 public:
  void begin(const Setup& setup) { last_ = Fence::at(setup.epoch); }
  void hold(const Holding& holding) {
    ++inside_;
    group_ = holding.group;
  }
  Complaint enter(const Setup& setup, const Entry& entry) {
    const auto group = entry.demand.group;
    const auto& capacity = setup.room.capacity;
    const bool same_session = entry.fence == last_ && group == group_;
    const auto before = std::exchange(last_, std::max(last_, entry.fence));
    if (++inside_ > 1 && group != group_)
      return {"exclusion", "groups " + std::to_string(group_) + " and " + std::to_string(group) +
                               " are inside at once"};
    group_ = group;
    if (group < capacity.size() && inside_ > capacity[group])
      return {"exclusion",
              "more of group " + std::to_string(group) + " are inside than it may have"};
    return entry.fence > before || same_session ? Complaint{} : not_grown(entry.fence, before);
  }
  void leave(NodeId /*node*/) { --inside_; }
  [[nodiscard]] std::size_t inside() const { return inside_; }
  [[nodiscard]] Fence last() const { return last_; }
  [[nodiscard]] auto fields() const { return std::tie(last_, group_, inside_); }
  bool operator==(const Monitor&) const = default;

 private:
  Fence last_;
  std::uint32_t group_ = 0;  // of the last who entered
  std::uint32_t inside_ = 0;
};

// Nobody shares an instance, and everybody gets exactly what it asked for.
template <>
class Monitor<Primitive::reservation> {
 public:
  void begin(const Setup& setup) { instances_.begin(setup.resources.type_of.size()); }
  void hold(const Holding& holding) {
    ++inside_;
    instances_.hold(holding);
  }
  Complaint enter(const Setup& setup, const Entry& entry) {
    ++inside_;
    for (const auto& unit : entry.units)
      if (auto complaint = instances_.take(entry.node, unit, "instance")) return complaint;
    return covers(setup, entry) ? Complaint{}
                                : Complaint{"exclusion",
                                            "a node enters with other instances than "
                                            "it asked for"};
  }
  void leave(NodeId node) {
    --inside_;
    instances_.give_back_all(node);
  }
  [[nodiscard]] std::size_t inside() const { return inside_; }
  [[nodiscard]] Fence last() const { return instances_.last(); }
  [[nodiscard]] auto fields() const { return std::tie(instances_, inside_); }
  bool operator==(const Monitor&) const = default;

 private:
  static bool covers(const Setup& setup, const Entry& entry) {
    std::size_t wanted = 0;
    const auto& type_of = setup.resources.type_of;
    return std::all_of(entry.demand.needs.begin(), entry.demand.needs.end(),
                       [&](const Need& need) {
                         wanted += need.count;
                         const auto got = std::count_if(
                             entry.units.begin(), entry.units.end(),
                             [&](const Unit& unit) { return type_of[unit.number] == need.type; });
                         return got == need.count;
                       }) &&
           wanted == entry.units.size();
  }

  HeldUnits instances_;
  std::uint32_t inside_ = 0;
};

}  // namespace turno

// Who attends a session of a group: those admitted, those who will be as there is room, and those
// who wait for the next session. The first of a session is its leader.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <tuple>

#include "core/node_id.h"

namespace turno::protocols {

// A process in one of its sessions.
struct Visit {
  NodeId process;
  std::uint32_t session = 0;
  bool operator==(const Visit&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(process, session); }
};

class Attendance {
 public:
  void join(const Visit& visit) { members_.push_back(visit); }
  void wait(const Visit& visit) { waiting_.push_back(visit); }

  // The session begins: whoever came first leads it.
  void begin() { leader_ = members_.front(); }
  // The next to be let in while fewer than `capacity` are. Those let in are the first of the list.
  std::optional<Visit> admit(std::uint32_t capacity) {
    if (admitted_ == members_.size() || admitted_ >= capacity) return std::nullopt;
    return members_[admitted_++];
  }
  // False: it does not attend and does not wait.
  bool leave(const Visit& visit) {
    const auto member = std::find(members_.begin(), members_.end(), visit);
    if (member == members_.end()) return remove(waiting_, visit);
    if (member - members_.begin() < static_cast<std::ptrdiff_t>(admitted_)) --admitted_;
    members_.erase(member);
    if (leader_ == visit) leader_ = {};
    return true;
  }
  // Those who wait attend the next session. REQUIRES: nobody attends.
  void turn_over() {
    members_.swap(waiting_);
    leader_ = {};
  }

  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] bool anybody_waits() const { return !waiting_.empty(); }
  [[nodiscard]] bool leads(const Visit& visit) const { return leader_ == visit; }
  [[nodiscard]] bool led() const { return leader_.process != nobody; }
  [[nodiscard]] std::size_t admitted() const { return admitted_; }
  [[nodiscard]] bool attends(const Visit& visit) const {
    return std::find(members_.begin(), members_.end(), visit) != members_.end();
  }

  [[nodiscard]] auto fields() const { return std::tie(leader_, members_, waiting_, admitted_); }
  bool operator==(const Attendance&) const = default;

 private:
  using Visits = boost::container::small_vector<Visit, 3>;

  static bool remove(Visits& visits, const Visit& visit) {
    const auto found = std::find(visits.begin(), visits.end(), visit);
    if (found == visits.end()) return false;
    visits.erase(found);
    return true;
  }

  Visit leader_;  // nobody: it has left
  Visits members_, waiting_;
  std::uint32_t admitted_ = 0;
};

}  // namespace turno::protocols

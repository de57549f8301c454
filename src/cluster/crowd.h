// Which of a member's own users have which permits of a semaphore, and who waits for some.
//
// Invariants: (1) no permit is listed twice; (2) the algorithm was asked for the first in line, or
// for nobody.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "cluster/line.h"

namespace turno::cluster {

// What a user in line wants.
struct PermitWants {
  std::uint32_t count = 1;
  std::uint32_t permits = 0;  // how many there are, as it says; 0: it does not say
  bool only_try = false;
  bool by_default = false;  // it says so only in case nobody else has
};

struct Crowd {
  using Units = boost::container::small_vector<std::uint32_t, 2>;
  struct Holder {
    UserId user = no_user;
    Units units;
    [[nodiscard]] auto fields() const { return std::tie(user, units); }
    bool operator==(const Holder&) const = default;
  };

  std::vector<Holder> holders;
  LineOf<PermitWants> line;
  bool asked = false;  // the algorithm, for the first in line

  static constexpr std::array<std::string_view, 3> labels = {"holders", "line", "asked"};
  [[nodiscard]] auto fields() const { return std::tie(holders, line, asked); }
  bool operator==(const Crowd&) const = default;

  [[nodiscard]] bool is_idle() const { return holders.empty() && line.empty(); }

  // Null: it has nothing.
  [[nodiscard]] const Holder* find(UserId user) const {
    const auto found = std::find_if(holders.begin(), holders.end(),
                                    [&](const Holder& each) { return each.user == user; });
    return found == holders.end() ? nullptr : &*found;
  }
  void give(UserId user, std::uint32_t unit) {
    auto found = std::find_if(holders.begin(), holders.end(),
                              [&](const Holder& each) { return each.user == user; });
    if (found == holders.end()) found = holders.insert(found, {user, {}});
    found->units.push_back(unit);
  }
  // Of these (none: all that it has) those that the user had, and has no longer.
  Units take(UserId user, std::span<const std::uint32_t> some) {
    Units taken;
    const auto found = std::find_if(holders.begin(), holders.end(),
                                    [&](const Holder& each) { return each.user == user; });
    if (found == holders.end()) return taken;
    Units kept;
    for (const auto unit : found->units) {
      const bool meant = some.empty() || std::find(some.begin(), some.end(), unit) != some.end();
      (meant ? taken : kept).push_back(unit);
    }
    found->units = kept;
    if (kept.empty()) holders.erase(found);
    return taken;
  }
  // Of all users.
  [[nodiscard]] Units units() const {
    Units all;
    for (const auto& holder : holders)
      all.insert(all.end(), holder.units.begin(), holder.units.end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

}  // namespace turno::cluster

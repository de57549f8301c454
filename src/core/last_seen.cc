#include "core/last_seen.h"

#include <algorithm>

namespace turno {

namespace {

// What all witnesses together remember of one that is gone.
struct Sum {
  LastSeen last;        // its last request that anybody knows
  bool granted = true;  // it may have been: everybody has answered it
  Facts told;           // what it was told of units
  std::uint32_t most = 0;
};

Sum sum_up(std::span<const AllLastSeen> witnesses, std::size_t who) {
  Sum sum;
  for (const auto& each : witnesses) {
    if (each[who].time >= sum.last.time) sum.last = each[who];
    sum.most = std::max(sum.most, each[who].most);
  }
  for (const auto& each : witnesses) {
    sum.granted &= each[who].time == sum.last.time && each[who].answered;
    for (const auto& fact : each[who].told) sum.told.merge(fact);
  }
  return sum;
}

}  // namespace

// What it has, it had when it asked for the last time, or it was granted it then: the smallest
// units that were free for it. Free was surely what neither itself had nor anybody named. What
// somebody else among the gone may have named is not known, only how many units that can have been.
std::vector<bool> may_be_gone(std::span<const AllLastSeen> witnesses, std::uint32_t permits) {
  std::vector<bool> perhaps(permits);
  const auto gone = witnesses.empty() ? 0 : witnesses.front().size();
  std::vector<Sum> sums;
  std::uint64_t named = 0;
  for (std::size_t who = 0; who < gone; ++who) {
    sums.push_back(sum_up(witnesses, who));
    named += sums.back().most;
  }
  for (const auto& sum : sums) {
    std::vector<bool> held(permits);
    for (const auto unit : sum.last.held)
      if (unit < permits) perhaps[unit] = held[unit] = true;
    if (!sum.granted) continue;
    auto left = sum.last.want + named - sum.most;  // so many more that were surely free
    for (std::uint32_t unit = 0; unit < permits && left > 0; ++unit) {
      const auto* told = sum.told.find(unit);
      if (told != nullptr && !told->freed && gone == 1) continue;  // nobody has said otherwise
      perhaps[unit] = true;
      if (told == nullptr && !held[unit]) --left;
    }
  }
  return perhaps;
}

}  // namespace turno

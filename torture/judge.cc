#include "judge.h"

#include <algorithm>
#include <tuple>

namespace turno::torture {

namespace {

std::string described(const Hold& hold) {
  return "client " + std::to_string(hold.client) + " (fence " + std::to_string(hold.fence) + ", " +
         std::to_string(hold.granted) + " to " + std::to_string(hold.ended) + " ns)";
}

}  // namespace

Verdict judge(std::vector<Hold> holds) {
  Verdict verdict;
  verdict.holds = holds.size();
  // Who hears of its grant when its time to live is over does not use it.
  holds.erase(std::remove_if(holds.begin(), holds.end(),
                             [](const Hold& hold) { return hold.granted >= hold.expires; }),
              holds.end());
  std::sort(holds.begin(), holds.end(), [](const Hold& a, const Hold& b) {
    return std::tie(a.lock, a.granted) < std::tie(b.lock, b.granted);
  });
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const auto& hold = holds[i];
    verdict.longest_wait = std::max(verdict.longest_wait, hold.granted - hold.asked);
    if (i == 0 || holds[i - 1].lock != hold.lock) continue;
    const auto& before = holds[i - 1];
    const auto lock = "lock " + std::to_string(hold.lock) + ": ";
    if (before.client != hold.client) ++verdict.hand_overs;
    if (hold.granted < std::min(before.ended, before.expires))
      verdict.violations.push_back(lock + described(before) + " and " + described(hold) +
                                   " held it at once");
    if (hold.fence <= before.fence)
      verdict.violations.push_back(lock + "the fence went back from " + described(before) + " to " +
                                   described(hold));
  }
  return verdict;
}

}  // namespace turno::torture

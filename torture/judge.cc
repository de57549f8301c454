#include "judge.h"

#include <algorithm>
#include <tuple>

#include "core/fence.h"

namespace turno::torture {

namespace {

std::string described(const Hold& hold, const Fate& fate) {
  const auto moment = [](std::string_view what, std::int64_t time) {
    return time == never ? "" : ", " + std::string(what) + " " + std::to_string(time);
  };
  return "client " + std::to_string(hold.client) + " at node " + std::to_string(hold.node) +
         (hold.group == 0 ? "" : " in group " + std::to_string(hold.group)) + " (fence " +
         std::to_string(hold.fence >> Fence::count_bits) + ":" +
         std::to_string(hold.fence & ((std::uint64_t{1} << Fence::count_bits) - 1)) + ", " +
         std::to_string(hold.granted) + " to " + std::to_string(hold.ended) + " ns" +
         moment("expires", hold.expires) + moment("node killed", fate.killed) +
         moment("node told to leave", fate.told_to_leave) + ")";
}

// Times that do not overlap, in order.
class Times {
 public:
  struct Span {
    std::int64_t from, to;
  };
  explicit Times(std::vector<Span> spans) {
    std::ranges::sort(spans, {}, &Span::from);
    for (const auto& span : spans) {
      if (spans_.empty() || span.from > spans_.back().to) {
        spans_.push_back(span);
      } else {
        spans_.back().to = std::max(spans_.back().to, span.to);
      }
    }
  }
  [[nodiscard]] std::int64_t within(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (const auto& span : spans_)
      sum += std::max<std::int64_t>(0, std::min(to, span.to) - std::max(from, span.from));
    return sum;
  }
  [[nodiscard]] bool contains(std::int64_t time) const {
    return std::ranges::any_of(
        spans_, [&](const Span& span) { return span.from <= time && time < span.to; });
  }

 private:
  std::vector<Span> spans_;
};

class Judge {
 public:
  explicit Judge(Story& story) : story_(story) {}

  Verdict judge() {
    verdict_.holds = story_.holds.size();
    auto& holds = story_.holds;
    // Who hears of its grant when that is over does not use it.
    std::erase_if(holds, [&](const Hold& hold) { return hold.granted >= promised(hold); });
    if (!story_.rooms) {
      std::ranges::sort(holds, {}, [](const Hold& hold) {
        return std::tie(hold.lock, hold.permit, hold.granted);
      });
      judge_exclusion();
    }
    std::ranges::sort(holds, {},
                      [](const Hold& hold) { return std::tie(hold.lock, hold.granted); });
    if (story_.rooms) judge_rooms();
    if (!story_.rooms && story_.permits == 1) measure_successions();
    judge_waits();
    return std::move(verdict_);
  }

 private:
  [[nodiscard]] std::string told(const Hold& hold) const { return described(hold, fate(hold)); }
  [[nodiscard]] Fate fate(const Hold& hold) const {
    return hold.node < story_.nodes.size() ? story_.nodes[hold.node] : Fate{};
  }
  // So long nobody else may have it.
  [[nodiscard]] std::int64_t promised(const Hold& hold) const {
    const auto [killed, left] = fate(hold);
    const auto gone = story_.move ? killed : std::min(killed, left);
    return std::min(hold.expires, gone == never ? never : gone + story_.lock_delay);
  }

  void judge_exclusion() {
    const Hold* last = nullptr;     // of the same permit, the last grant
    const Hold* longest = nullptr;  // and who believes longest
    for (const auto& hold : story_.holds) {
      if (hold.permit >= story_.permits)
        complain(hold, "there is no permit " + std::to_string(hold.permit) + ": " + told(hold));
      const bool first = last == nullptr || last->lock != hold.lock || last->permit != hold.permit;
      if (first) longest = nullptr;
      if (!first && last->client != hold.client) ++verdict_.hand_overs;
      if (longest != nullptr) judge_overlap(*longest, hold);
      if (!first && hold.fence <= last->fence)
        complain(hold, "the fence went back from " + told(*last) + " to " + told(hold));
      last = &hold;
      if (hold.ended == 0) continue;  // until when is not known yet
      if (longest == nullptr || until(hold) > until(*longest)) longest = &hold;
    }
  }
  [[nodiscard]] std::int64_t until(const Hold& hold) const {
    return std::min(hold.ended, promised(hold));
  }
  void judge_overlap(const Hold& before, const Hold& hold) {
    const auto overlap = until(before) - hold.granted;
    if (overlap <= 0) return;
    if (may_have_died_with(before, hold.granted)) {
      ++verdict_.overlaps_at_leave;
      verdict_.longest_at_leave = std::max(verdict_.longest_at_leave, overlap);
      return;
    }
    complain(hold, told(before) + " and " + told(hold) + " held it at once");
  }

  // Visits of all rooms, in the order in which they began.
  void judge_rooms() {
    std::vector<const Hold*> inside;  // of the room, and when they leave is known
    const Hold* last = nullptr;
    for (const auto& visit : story_.holds) {
      if (last == nullptr || last->lock != visit.lock) {
        inside.clear();
        last = nullptr;
      }
      std::erase_if(inside, [&](const Hold* other) { return until(*other) <= visit.granted; });
      judge_company(inside, visit);
      if (last != nullptr) judge_fences(*last, visit);
      if (visit.ended != 0) inside.push_back(&visit);
      verdict_.most_together = std::max<std::uint64_t>(verdict_.most_together, inside.size());
      last = &visit;
    }
  }
  void judge_company(const std::vector<const Hold*>& inside, const Hold& visit) {
    std::uint32_t company = 0;
    for (const auto* other : inside) {
      if (other->group != visit.group) {
        judge_overlap(*other, visit);
        continue;
      }
      ++company;
      if (visit.capacity != 1 && other->fence != visit.fence)
        complain(visit,
                 told(*other) + " and " + told(visit) + " were together and had different fences");
    }
    if (visit.capacity != 0 && company >= visit.capacity)
      complain(visit, "more than " + std::to_string(visit.capacity) + " of group " +
                          std::to_string(visit.group) + " were inside with " + told(visit));
  }
  void judge_fences(const Hold& before, const Hold& visit) {
    const bool grows = before.group != visit.group || visit.capacity == 1;
    if (grows && before.client != visit.client) ++verdict_.hand_overs;
    if (visit.fence < before.fence || (grows && visit.fence == before.fence))
      complain(visit, "the fence went back from " + told(before) + " to " + told(visit));
  }

  // Its client moved to another node when its own was told to leave; nobody notes to which. If one
  // was killed since, it may have been that one, and the lock delay was all that it had.
  [[nodiscard]] bool may_have_died_with(const Hold& hold, std::int64_t granted_next) const {
    const auto left = fate(hold).told_to_leave;
    return left != never && std::ranges::any_of(story_.nodes, [&](const Fate& other) {
             return other.killed != never && other.killed >= left &&
                    other.killed + story_.lock_delay <= granted_next;
           });
  }

  // How long they may take, patience says: whoever succeeds has waited.
  void measure_successions() {
    const auto& holds = story_.holds;
    for (auto hold = holds.begin(); hold != holds.end(); ++hold) {
      const auto killed = fate(*hold).killed;
      if (killed == never || hold->granted >= killed || (hold->ended != 0 && hold->ended < killed))
        continue;
      const auto next = std::find_if(hold, holds.end(), [&](const Hold& other) {
        return other.lock != hold->lock || other.granted > killed;
      });
      if (next == holds.end() || next->lock != hold->lock || next->asked >= killed) continue;
      ++verdict_.successions;
      verdict_.longest_succession = std::max(verdict_.longest_succession, next->granted - killed);
    }
  }

  void judge_waits() {
    std::vector<Times::Span> excused, still;
    for (const auto& stop : story_.stops) {
      excused.push_back({stop.from, stop.to});
      if (stop.client == no_client) still.push_back({stop.from, stop.to});
    }
    for (const auto& node : story_.nodes)
      if (node.killed != never) excused.push_back({node.killed, node.killed + story_.lock_delay});
    const Times excuses(excused), stood_still(still);
    for (const auto& hold : story_.holds)
      judge_wait({hold.client, hold.lock, hold.node, hold.asked, hold.granted}, excuses,
                 stood_still);
    for (const auto& wait : story_.waits) judge_wait(wait, excuses, stood_still);
  }

  void judge_wait(const Wait& wait, const Times& excuses, const Times& stood_still) {
    const auto length = wait.ended - wait.asked;
    verdict_.longest_wait = std::max(verdict_.longest_wait, length);
    const auto who = "client " + std::to_string(wait.client) + " at node " +
                     std::to_string(wait.node) + " (from " + std::to_string(wait.asked) + " ns)";
    if (length > verdict_.longest_counted) {
      const auto counted = length - excuses.within(wait.asked, wait.ended);
      verdict_.longest_counted = std::max(verdict_.longest_counted, counted);
      if (counted > story_.longest_wait)
        complain(wait, who + " waited for " + std::to_string(counted / 1'000'000) + " ms");
    }
    const auto often = overtakings(wait, stood_still);
    verdict_.most_overtakings = std::max(verdict_.most_overtakings, often);
    if (often > story_.most_overtakings)
      complain(wait, who + " was overtaken " + std::to_string(often) + " times");
  }

  // How many others were granted it meanwhile.
  [[nodiscard]] std::uint64_t overtakings(const Wait& wait, const Times& stood_still) const {
    const auto key = [](const Hold& hold) { return std::tie(hold.lock, hold.granted); };
    const auto from =
        std::ranges::upper_bound(story_.holds, std::tie(wait.lock, wait.asked), {}, key);
    const auto to =
        std::ranges::lower_bound(story_.holds, std::tie(wait.lock, wait.ended), {}, key);
    const auto all = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(0, to - from));
    if (all <= std::min(verdict_.most_overtakings, story_.most_overtakings)) return all;
    std::vector<Times::Span> own;
    for (const auto& stop : story_.stops)
      if (stop.client == wait.client) own.push_back({stop.from, stop.to});
    const Times slept(own);
    return static_cast<std::uint64_t>(std::count_if(from, to, [&](const Hold& hold) {
      return hold.client != wait.client && !stood_still.contains(hold.granted) &&
             !slept.contains(hold.granted);
    }));
  }

  template <class About>
  void complain(const About& about, const std::string& what) {
    verdict_.violations.push_back("lock " + std::to_string(about.lock) + ": " + what);
  }

  Story& story_;
  Verdict verdict_;
};

}  // namespace

Verdict judge(Story story) { return Judge(story).judge(); }

}  // namespace turno::torture

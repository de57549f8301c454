// A cluster's users as they really are, all in one place: who has what and who waits for what.
// Nothing takes time in it; that is what the questions about it do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/waits/tangle.h"
#include "core/random.h"

namespace turno::cluster {

class TrueWaits {
 public:
  struct Wait {
    std::uint64_t number = 0;
    Need need;
    bool by_command = true;  // and the session does nothing else meanwhile
  };
  struct Session {
    std::vector<Possession> has;
    std::vector<Wait> waits;
    std::uint64_t asked = 0;
  };

  void begin(Party party) { sessions_[party]; }
  void end(Party party) { sessions_.erase(party); }
  void end_member(std::uint64_t member) {
    std::erase_if(sessions_, [&](const auto& each) { return each.first.member == member; });
  }
  [[nodiscard]] bool lives(Party party) const { return sessions_.contains(party); }
  [[nodiscard]] const Session& of(Party party) const { return sessions_.at(party); }
  [[nodiscard]] const std::map<Party, Session>& all() const { return sessions_; }

  // The number of the wait. It may have ended at once.
  std::uint64_t ask(Party party, const Need& need, bool by_command = true) {
    auto& session = sessions_[party];
    const auto number = ++numbers_;
    session.waits.push_back({number, need, by_command});
    ++session.asked;
    serve();
    return number;
  }
  bool withdraw(Party party, std::uint64_t wait) {
    return lives(party) && std::erase_if(sessions_[party].waits,
                                         [&](const auto& each) { return each.number == wait; }) > 0;
  }
  void give_back(Party party, std::size_t which) {
    auto& has = sessions_[party].has;
    has.erase(has.begin() + static_cast<std::ptrdiff_t>(which));
  }
  // Whoever can have what it waits for gets it, in any order.
  void serve() {
    for (bool more = true; more;) {
      more = false;
      for (auto& [party, session] : sessions_)
        for (auto wait = session.waits.begin(); wait != session.waits.end();) {
          if (!fits(wait->need)) {
            ++wait;
            continue;
          }
          const auto& need = wait->need;
          session.has.push_back({need.thing, ++numbers_, need.units, need.group});
          wait = session.waits.erase(wait);
          more = true;
        }
    }
  }

  // The dumb way to know who is stuck: everybody who can gives back everything, and those who are
  // served then do the same, until nothing happens any more.
  [[nodiscard]] std::set<Party> who_never_goes_on() const {
    auto world = *this;
    for (bool more = true; more;) {
      more = false;
      for (auto& [party, session] : world.sessions_) {
        const auto before = sessions_.at(party).waits.size();
        const bool goes_on = session.waits.empty() || session.waits.size() < before ||
                             std::ranges::any_of(session.waits, [&](const Wait& wait) {
                               return another_task_has(session, wait);
                             });
        if (!goes_on || (session.has.empty() && session.waits.empty())) continue;
        session = {};
        more = true;
      }
      world.serve();
    }
    std::set<Party> left;
    for (const auto& [party, session] : world.sessions_)
      if (!session.waits.empty()) left.insert(party);
    return left;
  }

  // What a member says of its sessions that have one of these things.
  [[nodiscard]] std::vector<Testimony> testify(std::uint64_t member,
                                               const std::vector<NamedThing>& things) const {
    std::vector<Testimony> said;
    for (const auto& [party, session] : sessions_) {
      if (party.member != member) continue;
      const bool asked_about = std::ranges::any_of(session.has, [&](const Possession& each) {
        return std::ranges::find(things, each.thing) != things.end();
      });
      if (asked_about) said.push_back(testimony_of(party));
    }
    return said;
  }
  [[nodiscard]] Testimony testimony_of(Party party) const {
    const auto& session = sessions_.at(party);
    Testimony said{
        .party = party, .born = party.session, .asked = session.asked, .has = session.has};
    for (const auto& wait : session.waits)
      said.waits.push_back({.number = wait.number,
                            .needs = {wait.need},
                            .another_task = another_task_has(session, wait),
                            .may_be_aborted = true});
    return said;
  }
  // Of its own sessions that have something and wait.
  [[nodiscard]] std::vector<Testimony> blocked(std::uint64_t member) const {
    std::vector<Testimony> found;
    for (const auto& [party, session] : sessions_) {
      if (party.member != member || session.has.empty() || session.waits.empty()) continue;
      found.push_back(testimony_of(party));
    }
    return found;
  }

 private:
  [[nodiscard]] bool fits(const Need& need) const {
    std::uint64_t taken = need.units;
    for (const auto& [party, session] : sessions_)
      for (const auto& each : session.has) {
        if (each.thing != need.thing) continue;
        if (each.group != need.group) return false;
        taken += each.units;
      }
    return taken <= need.most;
  }
  static bool another_task_has(const Session& session, const Wait& wait) {
    TrueWaits alone;
    alone.sessions_[{}] = session;
    return !wait.by_command && !alone.fits(wait.need);
  }

  std::map<Party, Session> sessions_;
  std::uint64_t numbers_ = 0;
};

}  // namespace turno::cluster

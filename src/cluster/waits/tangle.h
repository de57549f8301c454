// Who has what and who waits for what, as members have testified, and which sessions can never go
// on.
//
// A session is *stuck* if none of its waits can end unless a stuck session gives something back.
// What is not known only makes fewer sessions stuck, so if all that is known was true at one
// moment, then whoever is found stuck was stuck at that moment. A *knot* is a set of stuck sessions
// of which each waits for all others, perhaps by way of others, and none for anybody else: with
// locks a cycle. Who waits for those in a knot is stuck too, but it is enough to end a wait in the
// knot.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "cluster/waits/testimony.h"

namespace turno::cluster {

class Tangle {
 public:
  // Rules, one of which may be taken away in tests that must notice it.
  enum class Without : std::uint8_t {
    none,
    confirmation,  // what was heard at different moments is taken for true at one
    numbers,       // a later wait or grant that looks the same is taken for the same
    asked,         // what a session has asked for between two testimonies is overlooked
    all_waits,     // who waits for several things is stuck if it cannot get one of them
    all_holders,   // whoever has some of a thing stands in the way of all who want some
    tasks          // a session that waits for what it has itself, in another task, is stuck
  };
  using Parties = std::set<Party>;

  explicit Tangle(Without without = Without::none) : without_(without) {}

  // Of a session that is known already: its waits are those that were told last.
  void add(const Testimony& testimony);
  // What is still so `later`: the same possessions, and the same waits of sessions that have asked
  // for nothing since.
  [[nodiscard]] Tangle still_so(const Tangle& later) const;

  [[nodiscard]] Parties stuck() const;
  // Each in the order of its parties.
  [[nodiscard]] std::vector<std::vector<Party>> knots() const;

  // A session, what it has (that the one before it wants), and what it wants.
  struct Step {
    const Testimony* who = nullptr;
    const Possession* has = nullptr;
    const PendingWait* wait = nullptr;  // null: it waits for nothing
    const Need* wants = nullptr;
  };
  // A shortest circle through this one. REQUIRES: it is in this knot.
  [[nodiscard]] std::vector<Step> circle(Party party, const std::vector<Party>& knot) const;

  // Whose wait is to end: the session that began last, among those whose wait may be ended if there
  // is one. The same whoever looks at this knot.
  [[nodiscard]] Party youngest(const std::vector<Party>& knot) const;

  // Who has this thing, for what each of them waits, who has that, and so on: the nearest first,
  // and of everybody once why it was come to.
  [[nodiscard]] std::vector<Step> chain(const NamedThing& thing, std::size_t most) const;

  using Sessions = std::map<Party, Testimony>;
  [[nodiscard]] const Sessions& sessions() const { return sessions_; }
  [[nodiscard]] const Testimony* find(Party party) const;
  // All that these sessions wait for.
  [[nodiscard]] std::set<NamedThing> wanted_by(const Parties& parties) const;
  [[nodiscard]] std::set<NamedThing> wanted() const;

 private:
  struct Claim {
    Party party;
    const Possession* what;
  };
  using Claims = std::map<NamedThing, std::vector<Claim>>;

  [[nodiscard]] Claims claims() const;
  [[nodiscard]] bool is_stuck(const Testimony& session, const Claims& claims,
                              const Parties& stuck) const;
  [[nodiscard]] bool is_blocked(const PendingWait& wait, const Need& need, const Claims& claims,
                                const Parties& stuck) const;
  struct Edge {
    Party to;
    Step step;  // of who waits; without what it has
    const Possession* has;
  };
  [[nodiscard]] std::vector<Edge> edges(Party from, const Claims& claims,
                                        const Parties& among) const;

  Without without_;
  Sessions sessions_;
};

}  // namespace turno::cluster

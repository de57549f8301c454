// This member's part in one thing's algorithm, through views: the same for every kind of thing.
// Which of the member's own users have what, says the desk that is built on it (`Whole`): Desk of a
// lock, Pool of a semaphore, Room.
//
// An algorithm assumes that nobody crashes, so each of its runs, an *instance*, lives inside one
// view. The thing's home (home.h) gives birth to instances:
//
//   - A member that wants in asks the home to `open` the thing; the home answers `opened` with the
//     instance and who had what at its birth. From then on the algorithm is on its own.
//   - When the view changes, all members drop what they have and report to the (new) home what
//     their users have. When everybody has reported, the home gives birth to an instance in which
//     they have it still: a holder that lives keeps what it holds. Who waits opens it again.
//   - To forget an idle thing the home *retires* its instance: the same for this thing alone. Who
//     took part drops it and reports; if nobody has anything and nobody asks, nothing is left.
//   - What somebody that died may have had, the home keeps for it (escrow): the instance is born
//     with the home inside, and when the delay is over the home leaves as anybody would.
//   - A message that cannot be (a peer that errs) costs the instance: it is retired and born again.
//
// Fences: the epoch is in the high bits. Within a view an instance counts from the largest count
// that any instance of this home has reached (Ledger::floor), so forgetting never lets them go
// back.
//
// Not here: names, sockets and time. A driver delivers messages in order and exactly once within a
// view, and drops those of older views. It feeds a desk by step() alone.
//
// Invariant: a member takes part in an instance only after the home told it so.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/desk_event.h"
#include "cluster/home.h"
#include "cluster/note.h"
#include "cluster/rules.h"
#include "core/assert.h"
#include "core/protocol.h"

namespace turno::cluster {

// P: an algorithm, or several participants of it at this member (Seated).
template <class P, class Whole, template <class> class OutcomeOf>
struct Part {
  using Message = DeskMessage<typename P::Message>;
  using Kind = Note::Kind;
  using Event = DeskEvent;
  using Out = OutcomeOf<Message>;
  using Without = Rules::Without;
  // Of this member's part in the algorithm. `broken`: it waits until the home ends the instance.
  enum class Phase : std::uint8_t { closed, asked, open, broken };

  // A message of an instance that this member does not know, yet or any more.
  struct Orphan {
    NodeId from;
    Instance instance = 0;
    typename P::Message inner{};
    [[nodiscard]] auto fields() const { return std::tie(from, instance, inner); }
    bool operator==(const Orphan&) const = default;
  };

  Phase phase = Phase::closed;
  Instance instance = 0;
  std::uint64_t base = 0;  // of the instance's fences
  std::uint64_t last = 0;  // the count of the last fence granted here in this view
  P node;
  Home home;
  std::vector<Orphan> orphans;

  bool operator==(const Part&) const = default;

  // A new desk of a thing whose home is here.
  void begin_home(const Ledger& ledger, bool was_its_home) {
    home.begin(ledger.unreported, 0, ledger.clears_unknown(was_its_home));
  }
  // A new desk that kept messages of an instance before it was known of what that is.
  void take_orphans(Whole& other) { orphans.swap(other.orphans); }

  [[nodiscard]] bool takes_part_in(Instance other) const {
    return (phase == Phase::open || phase == Phase::broken) && instance == other;
  }
  // The instance in which this member takes part; 0: none.
  [[nodiscard]] Instance part() const {
    return phase == Phase::open || phase == Phase::broken ? instance : 0;
  }

 protected:
  struct Step {
    const Context& context;
    Out& out;
    typename Whole::Granted granted{};  // what the algorithm gave this member
  };

  [[nodiscard]] Whole& whole() { return static_cast<Whole&>(*this); }
  [[nodiscard]] const Whole& whole() const { return static_cast<const Whole&>(*this); }

  // Nothing but its users would be lost if this value were thrown away.
  [[nodiscard]] bool is_idle_part(const Ledger& ledger, const Rules& rules) const {
    // Whether the dead may have had it is remembered while that matters.
    const bool matters = home.here && ledger.delayed && rules.without != Without::memory;
    return phase == Phase::closed && home.is_idle(ledger) && orphans.empty() && !matters;
  }

  // ---- the algorithm

  void expire(Step& step, [[maybe_unused]] std::uint8_t timer) {
    if (phase != Phase::open) return;
    typename P::Out inner;
    if constexpr (HasTimers<P>) node.expire(timer, inner);
    perform(step, inner);
  }

  // What the algorithm wants done.
  void perform(Step& step, const typename P::Out& inner) {
    for (const auto& send : inner.sends()) {
      const Message message{{.kind = Kind::protocol, .instance = instance}, send.message};
      if (send.to == inner.everyone) {
        step.out.broadcast(message);
      } else {
        step.out.send(send.to, message);
      }
    }
    if constexpr (HasTimers<P>)
      for (const auto& alarm : inner.alarms()) step.out.arm(alarm.timer, alarm.delay_ns);
    whole().take_note(step, inner);
  }

  [[nodiscard]] static Fence fence_of(const Step& step, std::uint64_t count) {
    return Fence::at(step.context.fences_from + step.context.setup->epoch, count);
  }

  void drop_part() {
    instance = 0;
    base = 0;
    node = P{};
  }

  // Takes part in the instance that was born, in the state that this setup and the holdings make.
  // False: they cannot be, and the instance is spoilt.
  bool resume(Step& step, const Setup& setup, std::span<const Holding> holdings) {
    typename P::Out inner;
    try {
      const PeerInput guard;
      node = P::resume(setup, step.context.self, holdings);
      if constexpr (requires { node.start(inner); }) node.start(inner);
    } catch (const Impossible&) {
      spoil(step);
      return false;
    }
    perform(step, inner);
    return true;
  }

  // A message came that cannot be: the home is to end the instance.
  void spoil(Step& step) {
    if (phase != Phase::open) return;
    step.out.spoilt = true;
    phase = Phase::broken;
    node = P{};
    tell_home(step, {.kind = Kind::spoilt, .instance = instance});
  }

  // ---- messages

  void receive(Step& step, NodeId from, const Note& note) {
    if (note.kind != Kind::protocol) return receive_note(step, from, note);
    receive_protocol(step, from, static_cast<const Message&>(note));
  }

  void receive_note(Step& step, NodeId from, const Note& note) {
    switch (note.kind) {
      case Kind::opened:
        return whole().opened(step, note);
      case Kind::retire:
        if (takes_part_in(note.instance)) whole().start_again(step, note.instance, false);
        return;
      case Kind::gone:
        return drop_orphans(note.instance);
      case Kind::busy:
        return whole().be_refused(step);
      case Kind::go:
        return whole().go(step, note);
      case Kind::unknown:
        return whole().be_unknown(step, note);
      case Kind::spoilt:
        if (home.lives() && note.instance == home.instance &&
            !step.context.without(Without::spoils))
          retire(step);
        return;
      default:
        return tell_own_home(step, from, note);
    }
  }

  void receive_protocol(Step& step, NodeId from, const Message& message) {
    if (!takes_part_in(message.instance)) return keep(step, from, message);
    if (phase == Phase::broken) return;
    typename P::Out inner;
    try {
      const PeerInput guard;
      node.receive(from, message.inner, inner);
    } catch (const Impossible&) {
      return spoil(step);
    }
    perform(step, inner);
  }

  // Of an instance that this member does not know it asks the home. The home knows all that live.
  void keep(Step& step, NodeId from, const Message& message) {
    if (step.context.at_home() || step.context.without(Without::orphans)) return;
    const bool asked = std::any_of(orphans.begin(), orphans.end(), [&](const Orphan& other) {
      return other.instance == message.instance;
    });
    // More than any algorithm sends before it is answered.
    if (orphans.size() >= 64 + 16 * step.context.setup->size())
      return tell_home(step, {.kind = Kind::spoilt, .instance = message.instance});
    orphans.push_back({from, message.instance, message.inner});
    if (!asked) tell_home(step, {.kind = Kind::query, .instance = message.instance});
  }
  void drop_orphans(Instance of) {
    std::erase_if(orphans, [&](const Orphan& other) { return other.instance == of; });
  }
  void deliver_orphans(Step& step) {
    if (orphans.empty() || phase != Phase::open) return;
    const auto waiting = orphans;
    const auto now = instance;
    drop_orphans(now);
    for (const auto& orphan : waiting) {
      if (orphan.instance != now) continue;
      whole().use(step);
      receive_protocol(step, orphan.from, {{.instance = now}, orphan.inner});
    }
  }

  // ---- the home

  // No user wants it any more, and the home has not answered what was asked for them. Whatever it
  // answers, this member wants nothing: so it can forget the thing at once, however long that
  // takes.
  void stop_asking(Step& step, bool asked) {
    if (!asked) return;
    if (phase == Phase::asked) phase = Phase::closed;
    tell_home(step, {.kind = Kind::forgo});
  }

  void tell_home(Step& step, const Note& note) {
    if (!step.context.at_home()) return step.out.send(step.context.home, {note});
    receive_note(step, step.context.self, note);
  }
  void tell_own_home(Step& step, NodeId from, const Note& note) {
    Letters letters;
    const bool used_here = from != step.context.self && whole().is_used_here();
    home.receive(step.context, from, note, used_here, letters);
    deliver(step, letters);
  }
  void deliver(Step& step, const Letters& letters) {
    if constexpr (requires { Whole::others_first; }) {
      for (const auto& letter : letters)
        if (letter.to != step.context.self) step.out.send(letter.to, {letter.note});
      for (const auto& letter : letters)
        if (letter.to == step.context.self) receive_note(step, letter.to, letter.note);
      return;
    }
    for (const auto& letter : letters) {
      if (letter.to == step.context.self) {
        receive_note(step, letter.to, letter.note);
      } else {
        step.out.send(letter.to, {letter.note});
      }
    }
  }

  // Forget the thing if nobody uses it, or else begin again.
  void retire(Step& step) {
    const auto retired = home.instance;
    Letters letters;
    home.retire(step.context, letters);
    deliver(step, letters);
    whole().start_again(step, retired, false);
  }

  // REQUIRES: the report and its inquiry are of this member's part, which it has dropped. Who has
  // nothing after a change of the view says so for all things at once.
  void tell_report(Step& step, const Note& report) {
    const bool silent = report.instance == 0 && step.context.rules.collective &&
                        report.holdings.empty() && !report.clear && report.evidence.empty() &&
                        !step.context.at_home();
    if (!silent) tell_home(step, report);
  }

  // There is a new view. True: surely nobody that is gone had it.
  bool begin_view(Step& step, const Event& event) {
    const bool clear = home.clears(*event.gone);
    last = 0;
    orphans.clear();
    home = {};
    if (event.missing != nullptr)
      home.begin(*event.missing, 0, clear || !step.context.ledger->delayed);
    return clear;
  }
};

}  // namespace turno::cluster

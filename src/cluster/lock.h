// One lock at one node, through views: the same recovery for every algorithm.
//
// An algorithm assumes that nobody crashes, so each of its runs, an *instance*, lives inside one
// view. The lock's home (one member of the view, the same for all) gives birth to instances:
//
//   - A member that wants in asks the home to `open` the lock; the home answers `opened` with the
//     instance and who was inside at its birth. From then on the algorithm is on its own.
//   - When the view changes, all members drop what they have and report to the (new) home whether
//     their user is inside. When everybody has reported, the home gives birth to an instance in
//     which the reported holder is inside: a holder that lives keeps its lock. Who waits opens the
//     lock again.
//   - To forget an idle lock the home *retires* its instance: the same for this lock alone. Who
//     took part drops it and reports; if nobody is inside and nobody asks, nothing is left.
//
// Fences: the epoch is in the high bits. Within a view an instance counts from the largest count
// that any instance of this home has reached (`Book::floor`), so forgetting a lock never lets its
// fences go back.
//
// Not here: names, sockets and time. A driver delivers messages in order and exactly once within a
// view, drops those of older views, and asks the home about instances it does not know.
//
// Invariants: (1) a node takes part in an instance only after the home told it so; (2) the home
// gives birth only when nobody takes part in an earlier instance, or could still enter by it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/protocol.h"

namespace turno::cluster {

using Instance = std::uint64_t;  // counted by the home from 1; 0 is none

// A node may serve several of its own users within one turn: their fences lie between two turns.
inline constexpr std::uint64_t fences_per_turn = 16;

// What a member keeps for all the locks that have their home with it, in one view.
struct Book {
  Instance born = 0;        // the last instance
  std::uint64_t floor = 0;  // no fence of a retired instance counted further
  bool delayed = false;     // a crash is too recent: what may have been held is not given away

  [[nodiscard]] auto fields() const { return std::tie(born, floor, delayed); }
  bool operator==(const Book&) const = default;
};

// Where a lock is in a view. The same for all its time there.
struct Place {
  const Setup* setup = nullptr;  // a tree with its root at the home
  NodeId self, home;
  Book* book = nullptr;

  [[nodiscard]] bool at_home() const { return self == home; }
};

template <Protocol P>
struct LockMessage {
  enum class Kind : std::uint8_t { protocol, report, open, query, opened, gone, retire };
  Kind kind = Kind::protocol;
  Instance instance = 0;
  NodeId holder;                // opened: inside at the birth
  std::uint64_t count = 0;      // opened: fences count from here; report: they reached this here
  bool holds = false;           // report: the user is inside
  bool free = false;            // report: surely nobody is inside
  typename P::Message inner{};  // protocol

  static constexpr std::array<std::string_view, 7> kinds = {"protocol", "report", "open",  "query",
                                                            "opened",   "gone",   "retire"};
  static constexpr std::array<std::string_view, 7> labels = {"kind",  "instance", "holder", "count",
                                                             "holds", "free",     "inner"};
  [[nodiscard]] auto fields() const {
    return std::tie(kind, instance, holder, count, holds, free, inner);
  }
  bool operator==(const LockMessage&) const = default;
};

template <Protocol P>
struct Lock {
  using Message = LockMessage<P>;
  using Kind = typename Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { closed, asked, open };

  // What the home knows of its lock.
  struct Home {
    bool here = false;  // this node is the home and has begun to be
    NodeSet missing;    // who has not reported yet
    NodeSet wishes;     // who asked to open it meanwhile
    NodeSet members;    // who was told of the instance
    Instance instance = 0;
    NodeId holder;            // reported, or inside at the birth
    std::uint64_t count = 0;  // with which the instance was born
    bool free = false;        // surely nobody is inside

    [[nodiscard]] auto fields() const {
      return std::tie(here, missing, wishes, members, instance, holder, count, free);
    }
    bool operator==(const Home&) const = default;
  };

  Phase phase = Phase::closed;
  bool wanting = false, inside = false;  // the local user
  bool left = false;                     // it left before the home could be told
  Instance instance = 0;
  std::uint64_t base = 0;  // of the instance's fences
  std::uint64_t last = 0;  // the count of the last fence granted here in this view
  P node;
  Home home;

  static constexpr std::array<std::string_view, 9> labels = {
      "phase", "wanting", "inside", "left", "instance", "base", "last", "node", "home"};
  [[nodiscard]] auto fields() const {
    return std::tie(phase, wanting, inside, left, instance, base, last, node, home);
  }
  bool operator==(const Lock&) const = default;

  // The local user wants in. While it is inside it may ask again only if the algorithm allows it.
  void request(const Place& place, Out& out) {
    wanting = true;
    if (phase == Phase::open) return ask(place, out);
    if (phase == Phase::asked) return;
    phase = Phase::asked;
    tell_home(place, {.kind = Kind::open}, out);
  }

  // The local user leaves.
  void release(const Place& place, Out& out) {
    inside = false;
    if (phase != Phase::open) {
      left = true;
      return;
    }
    typename P::Out inner;
    node.release(inner);
    perform(place, inner, out);
  }

  // Says whether this node takes part in the message's instance; only then is it received. Of
  // another one the home must be asked (`query`).
  [[nodiscard]] bool knows(const Message& message) const {
    return message.kind != Kind::protocol || (phase == Phase::open && message.instance == instance);
  }

  void receive(const Place& place, NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::protocol: {
        typename P::Out inner;
        node.receive(from, message.inner, inner);
        return perform(place, inner, out);
      }
      case Kind::opened:
        return opened(place, message, out);
      case Kind::retire:
        if (phase == Phase::open && message.instance == instance) start_again(place, out);
        return;
      case Kind::gone:
        return;
      case Kind::report:
      case Kind::open:
      case Kind::query:
        return receive_at_home(place, from, message, out);
    }
  }

  // A new view: whatever there was is dropped, but not the local user. At the home, begin_home
  // comes first.
  void adopt(const Place& place, Out& out) {
    last = 0;
    start_again(place, out);
  }

  // This node is the home of the lock, in a view in which these members have not reported yet.
  void begin_home(const NodeSet& missing) {
    home = {};
    home.here = true;
    home.missing = missing;
  }

  // At the home: forget the lock if nobody uses it, or else begin again.
  void retire(const Place& place, Out& out) {
    if (!retirable()) return;
    const auto told = home.members;
    const auto retired = home.instance;
    begin_home(told);
    told.for_each([&](NodeId member) {
      if (member != place.self) out.send(member, {.kind = Kind::retire, .instance = retired});
    });
    start_again(place, out);
  }
  [[nodiscard]] bool retirable() const { return home.here && home.instance != 0; }

  // At the home: all reports are in, or the delay after a crash is over.
  void conclude(const Place& place, Out& out) {
    if (!home.here || home.instance != 0 || !home.missing.empty()) return;
    const bool may_be_held = place.book->delayed && !home.free;
    if (home.holder == nobody && (home.wishes.empty() || may_be_held)) return;
    give_birth(place, out);
  }

  // Nothing would be lost if this value were thrown away.
  [[nodiscard]] bool idle() const {
    const bool nothing_here = phase == Phase::closed && !wanting && !inside && !left;
    const bool nothing_at_home =
        !home.here || (home.instance == 0 && home.missing.empty() && home.wishes.empty());
    return nothing_here && nothing_at_home;
  }

 private:
  void ask(const Place& place, Out& out) {
    typename P::Out inner;
    node.request(Demand{}, inner);
    perform(place, inner, out);
  }

  // Passes on what the algorithm wants done.
  void perform(const Place& place, const typename P::Out& inner, Out& out) {
    for (const auto& send : inner.sends()) {
      const Message message{.kind = Kind::protocol, .instance = instance, .inner = send.message};
      if (send.to == inner.everyone) {
        out.broadcast(message);
      } else {
        out.send(send.to, message);
      }
    }
    if (!inner.granted()) return;
    wanting = false;
    inside = true;
    last = base + inner.granted()->count() * fences_per_turn;
    out.grant(Fence::at(place.setup->epoch, last));
  }

  void tell_home(const Place& place, const Message& message, Out& out) {
    if (place.at_home()) {
      receive_at_home(place, place.self, message, out);
    } else {
      out.send(place.home, message);
    }
  }

  // Drops the instance, reports, and asks for another one if the user needs it.
  void start_again(const Place& place, Out& out) {
    const Message report{
        .kind = Kind::report, .count = last, .holds = inside, .free = left || surely_free()};
    phase = inside || wanting ? Phase::asked : Phase::closed;
    left = false;
    instance = 0;
    base = 0;
    node = P{};
    const bool asks = wanting && !inside;
    tell_home(place, report, out);
    if (asks) tell_home(place, {.kind = Kind::open}, out);
  }

  // Whether what this node has proves that nobody is inside.
  [[nodiscard]] bool surely_free() const {
    if constexpr (HasToken<P>) return phase == Phase::open && !inside && node.has_token();
    return false;
  }

  void opened(const Place& place, const Message& message, Out& out) {
    if (phase == Phase::open) return;  // asked twice, told twice
    const bool was_holder = message.holder == place.self;
    phase = Phase::open;
    instance = message.instance;
    base = message.count;
    typename P::Out inner;
    node = P::resume(*place.setup, place.self,
                     {&message.holder, std::size_t{message.holder == nobody ? 0U : 1U}});
    step(node, Input<typename P::Message>{}, inner);
    if (was_holder && left) node.release(inner);
    left = false;
    if (wanting) node.request(Demand{}, inner);
    perform(place, inner, out);
  }

  void receive_at_home(const Place& place, NodeId from, const Message& message, Out& out) {
    if (!home.here) return;  // a peer that takes this node for the home of another lock
    if (message.kind == Kind::report) {
      home.missing.erase(from);
      if (message.holds) home.holder = from;
      home.free |= message.free;
      place.book->floor = std::max(place.book->floor, message.count);
      return conclude(place, out);
    }
    if (home.instance != 0 && (message.kind == Kind::open || message.instance == home.instance))
      return tell_opened(place, from, out);
    if (message.kind == Kind::query)
      return out.send(from, {.kind = Kind::gone, .instance = message.instance});
    home.wishes.insert(from);
    conclude(place, out);
  }

  void give_birth(const Place& place, Out& out) {
    home.instance = ++place.book->born;
    home.count = place.book->floor;
    const auto wishes = home.wishes;
    const auto holder = home.holder;
    home.wishes.clear();
    home.free = false;
    tell_opened(place, place.self, out);
    if (holder != nobody) tell_opened(place, holder, out);
    wishes.for_each([&](NodeId member) { tell_opened(place, member, out); });
  }

  void tell_opened(const Place& place, NodeId member, Out& out) {
    const Message message{.kind = Kind::opened,
                          .instance = home.instance,
                          .holder = home.holder,
                          .count = home.count};
    home.members.insert(member);
    if (member == place.self) {
      opened(place, message, out);
    } else {
      out.send(member, message);
    }
  }
};

}  // namespace turno::cluster

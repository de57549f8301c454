// Who asks for locks: what it holds, what it waits for and until when. Knows no connection and no
// bytes; what happens to it is told to its speakers, the connections that speak for it.
//
// In the loop's thread.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "port/host.h"
#include "port/resp/grants.h"

namespace turno::port {

class DeadlockWatch;

// What happened to a session's lock, or to its wait for one. The texts are valid while it is told.
struct News {
  // draining: the node leaves, and the reason says why.
  enum class Kind : std::uint8_t { granted, timeout, failed, lost, draining };
  Kind kind = Kind::granted;
  std::string_view lock;     // or the semaphore, or the election
  std::uint64_t ticket = 0;  // of the wait that ended; a lost lock has none
  Fence fence;               // of what was granted or lost
  std::string_view reason;   // why it failed or was lost
  Thing thing = Thing::lock;
  std::span<const std::uint32_t> permits{};  // of a semaphore: which were granted
  std::span<const Resource> resources{};     // of a store
  std::string_view code{};                   // failed: of the error; empty: UNAVAILABLE
};

class Session {
 public:
  // A connection that speaks for a session.
  class Speaker {
   public:
    // The wait that it asked for has ended. It may ask for more before this returns.
    virtual void answer(const News& news) = 0;
    // What no command of its own waits for.
    virtual void tell(const News& news) = 0;
    // Whether it can be told that a lock is lost.
    [[nodiscard]] virtual bool hears() const = 0;
    // The session is over; what it still had is told next.
    virtual void session_ends(std::string_view reason) = 0;

   protected:
    ~Speaker() = default;
  };

  Session(Host& host, DeadlockWatch& watch);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] std::uint64_t id() const { return owner_.session; }
  [[nodiscard]] const std::string& name() const { return owner_.client; }
  void set_name(std::string_view name) { owner_.client = name; }
  // Where it was begun: its name, until it has another.
  void set_origin(const std::string& from) { owner_.client = owner_.from = from; }

  void join(Speaker& speaker) { speakers_.push_back(&speaker); }
  // Withdraws what this speaker waits for.
  void leave(const Speaker& speaker);
  [[nodiscard]] std::size_t speakers() const { return speakers_.size(); }
  // To all speakers.
  void announce(const News& news);

  struct Wanted {
    std::string_view name;
    std::chrono::milliseconds timeout{-1};  // negative: for ever
    std::chrono::milliseconds ttl{0};       // 0: none
    Speaker* asker = nullptr;               // is answered; nobody: how it ends is announced
    Thing thing = Thing::lock;
    std::uint32_t count = 1;  // of a semaphore: how many permits
    // And how many there are, if that is said; of a room: how many of the group may be inside.
    std::uint32_t permits = 0;
    bool by_default = false;          // so many of a semaphore unless somebody has resized it
    bool resizes = false;             // it wants none, but that there are so many
    std::string_view value{};         // of a leader
    std::string_view group{};         // of a room
    std::span<const Claim> claims{};  // of a store
  };
  struct Asked {
    enum class State : std::uint8_t {
      granted,
      refused,        // it only tried
      waiting,        // and will be answered or announced
      holds_already,  // this and the next would wait for themselves
      waits_already,
      too_many
    };
    State state = State::waiting;
    std::uint64_t ticket = 0;
    Fence fence;
    std::vector<std::uint32_t> permits{};  // granted ones of a semaphore
    std::string objection{};               // refused for good: why
    std::string_view code = "ERR";         // of the objection
    std::vector<Resource> resources{};     // granted ones of a store
  };
  static constexpr std::size_t most_locks = 100'000;  // that one session holds or waits for

  // A lock, or the leadership of an election. What is granted or refused at once is announced to
  // nobody: it is said here.
  Asked lock(const Wanted& wanted);
  // False: too late, or a speaker is to be answered.
  bool cancel(std::uint64_t ticket);
  // False: this session does not hold it (with this fence, if it is given).
  bool unlock(std::string_view name, Fence fence, Thing thing = Thing::lock);
  bool renew(std::string_view name, std::chrono::milliseconds ttl, Fence fence,
             Thing thing = Thing::lock);
  // This session's lock was taken away.
  void lost(const std::string& lock, Fence fence, std::string_view reason,
            Thing thing = Thing::lock);

  // ---- permits of semaphores, rooms, and resources of stores (session_permits.cc)

  Asked permit(const Wanted& wanted);
  // How many permits or resources that was, or how often it was in the room: by one grant, or by
  // all if no fence is given.
  std::size_t give_back(Thing thing, std::string_view name, Fence fence);
  // How many grants.
  std::size_t renew_permits(Thing thing, std::string_view name, std::chrono::milliseconds ttl,
                            Fence fence);
  void lost_permits(Thing thing, const std::string& name, Fence fence, std::string_view reason);

  // ---- against deadlocks (deadlock/session_waits.cc)

  [[nodiscard]] bool has_and_waits() const { return holds() > 0 && !waits_.empty(); }
  // How long its newest wait is going on. REQUIRES: it waits.
  [[nodiscard]] Clock::duration since_it_last_asked() const;
  // What it has of these things, and of all that it waits for; and its waits, unless one of them is
  // over or will soon be.
  [[nodiscard]] cluster::Testimony testimony(std::uint64_t member,
                                             const std::vector<cluster::NamedThing>& things);
  // Its wait of this number is part of a deadlock. True: for the first time.
  bool report(std::uint64_t wait);
  // What is waited for by this wait, if it goes on.
  struct Awaited {
    Thing thing = Thing::lock;
    std::string name;
    bool may_be_aborted = false;
  };
  [[nodiscard]] std::optional<Awaited> awaited(std::uint64_t wait) const;
  // Ends the wait with an error. False: it is too late.
  bool abort(std::uint64_t wait, std::string_view reason);

  // How the wait with this ticket stands: waiting, or how it ended.
  struct Standing {
    enum class State : std::uint8_t { waiting, granted, timeout, failed };
    State state = State::waiting;
    std::string lock;
    Fence fence;         // if it was granted
    std::string reason;  // if it failed
    // If it was granted: of a semaphore, of a store.
    std::vector<std::uint32_t> permits{};
    std::vector<Resource> resources{};
  };
  // Nothing: there was no such wait, it was cancelled, its lock is no longer held, or it is one of
  // many that have ended since.
  [[nodiscard]] std::optional<Standing> standing(std::uint64_t ticket) const;
  // A speaker waits for an answer.
  [[nodiscard]] bool is_awaited() const;

  // Releases what it holds and withdraws what it waits for. Nobody is told.
  void end();
  // The same, and everybody is told why. Nobody speaks for it any more.
  void break_off(std::string_view reason);
  // Withdraws what it waits for, and tells why.
  void fail_waits(std::string_view reason);

  // ---- when the node leaves (session_moves.cc)

  // Its client moves to another node by itself when it is told to.
  [[nodiscard]] bool movable() const { return movable_ && permits_.empty(); }
  // Its client moves what can be moved, and goes on elsewhere with the rest.
  [[nodiscard]] bool moves_by_itself() const { return movable_; }
  void set_movable(bool movable) { movable_ = movable; }
  [[nodiscard]] bool hears() const;
  // Its waits end, and everybody who can hear it is told that its locks are lost. It has them until
  // its client lets go of them, or the session ends.
  void dismiss(std::string_view reason);
  // Some of what it has, for another node: until it is said what became of it, nobody lets go of
  // it.
  [[nodiscard]] std::vector<table::Bequest> bequeath();
  void bequeathed(const std::vector<table::Bequest>& bequests);
  void reclaim(const std::vector<table::Bequest>& bequests);
  // It has something from a member that leaves, and is not gone yet.
  [[nodiscard]] bool is_heir() const;
  // What one has that moves here, as that member has said in the message of this number. Says why
  // it cannot be, or nothing.
  [[nodiscard]] std::string inherit(std::uint64_t member, std::uint64_t number,
                                    const std::vector<table::Bequest>& bequests);
  // Whoever knows it may give this session what it has.
  [[nodiscard]] const std::string& ticket();
  [[nodiscard]] bool has_ticket(std::string_view ticket) const {
    return !inheritance_ticket_.empty() && inheritance_ticket_ == ticket;
  }

  struct Holding {
    std::string name;
    Thing thing = Thing::lock;
    Fence fence;
    std::chrono::milliseconds ttl{0};  // that is left; 0: it has none
  };
  [[nodiscard]] std::vector<Holding> holdings() const;
  // Of this lock or election, if the session holds it.
  [[nodiscard]] std::optional<Fence> fence_of(std::string_view name, Thing thing) const;
  [[nodiscard]] std::size_t holds() const {
    return locks_.held.size() + elections_.held.size() + permits_.size();
  }
  [[nodiscard]] std::size_t waits() const { return waits_.size(); }

 private:
  class Wait;
  struct Held {
    Fence fence;
    net::Loop::Timer ttl;
    std::uint64_t ticket = 0;   // of the wait that got it, if nobody was answered then
    bool moving = false;        // to another node
    Clock::time_point until{};  // moving: when its time to live is over, if it has one
  };
  struct SameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };
  template <class T>
  using ByName = boost::unordered_flat_map<std::string, T, SameHash, std::equal_to<>>;

  // Locks, or elections.
  struct OfKind {
    Thing thing;
    ByName<Held> held{};
    ByName<std::uint32_t> waited{};  // how often each
    // Invariant: the names of those held that have a ticket, by it.
    boost::unordered_flat_map<std::uint64_t, std::string> announced{};
  };
  [[nodiscard]] OfKind& of(Thing thing) { return thing == Thing::election ? elections_ : locks_; }
  [[nodiscard]] std::array<OfKind*, 2> kinds() { return {&locks_, &elections_}; }

  // Why it may not ask for this, by the rules against deadlocks; empty: it may.
  [[nodiscard]] std::string out_of_turn(const Wanted& wanted) const;
  // If it has something and waits: somebody is to look whether that ends.
  void watch_out();
  [[nodiscard]] std::vector<cluster::Possession> possessions(const cluster::NamedThing& thing);
  [[nodiscard]] cluster::PendingWait pending(const Wait& wait);
  [[nodiscard]] std::vector<cluster::Need> needs_of(const Wait& wait);
  [[nodiscard]] static std::size_t units_of(const HeldPermits& held, const cluster::NamedThing& of);
  [[nodiscard]] bool may_be_aborted(const Wait& wait) const;

  void keep(const Wait& wait);
  static void forget(OfKind& kind, ByName<Held>::iterator held);
  [[nodiscard]] static std::chrono::milliseconds left_of(
      const net::Loop::Timer& ttl);  // 0: there is none
  void keep_permits(const Wait& wait);
  void set_ttl(HeldPermits& held, std::chrono::milliseconds ttl);
  void end_permits();
  void lose_all_permits(std::string_view reason, bool release);
  // Withdraws it, or gives back what it got.
  void give_up(Wait& wait);
  bool withdraw(Wait& wait);
  void set_ttl(Thing thing, std::string_view name, Held& held, std::chrono::milliseconds ttl);
  void stand_in_line(std::unique_ptr<Wait> wait, std::chrono::milliseconds timeout);
  void settle(Wait& wait);
  void expired(Wait& wait);
  // Takes the wait off the list, then says how it ended.
  void conclude(Wait& wait, News::Kind kind, std::string_view reason = {},
                std::string_view code = {});
  std::unique_ptr<Wait> take(Wait& wait);
  void remember(const Wait& wait, News::Kind kind, std::string_view reason);
  Wait* find(std::uint64_t ticket);
  static ByName<Held>::iterator find_held(OfKind& kind, std::string_view name, Fence fence);

  Host& host_;
  DeadlockWatch& watch_;
  const std::chrono::system_clock::time_point born_ = std::chrono::system_clock::now();
  Owner owner_;
  boost::container::small_vector<Speaker*, 2> speakers_;
  OfKind locks_{Thing::lock}, elections_{Thing::election};
  Grants permits_;
  std::vector<std::uint64_t> overdue_;  // of those whose time to live is over: their tickets
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Wait>> waits_;  // by ticket
  std::uint64_t tickets_ = 0;
  bool movable_ = false, dismissed_ = false;
  std::string inheritance_ticket_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> inherited_;  // members, their messages
  std::map<std::uint64_t, Standing> ended_;  // waits that got nothing, the latest, by ticket
  // False once the session is gone: for what comes later.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace turno::port

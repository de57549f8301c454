// What a client knows about its locks. A node knows a session as one holder: it lets it ask for a
// lock once at a time. So the threads of this program queue here for each lock, and only the first
// of them stands in the queue of a node.
//
// An attempt is one call of acquire(): queued here, then it has a *place* at a node, then it is
// done. If the node goes or is silent, the attempt is *stranded*, and its own thread finds another
// node. A place that is given up before the node has answered stays known until then, and whoever
// hears of a grant gives it back. So nothing is left behind.
//
// New requests go to the *current* channel. A channel that is no longer current lives as long as
// something is held by it.
//
// Invariants, under the mutex: (1) a lock is held, or one attempt has its turn, or neither, never
// both; (2) attempts are queued only behind one of these; (3) what is held or has a place belongs
// to one channel, and ends or moves with it; (4) an attempt whose turn it is has a place or is
// stranded; (5) the current channel's connection has not ended; (6) channels are destroyed in
// sweep() and by the destructor only, never in their own threads.
//
// A node that leaves says so. Then a thread, the mover, hands over to another node what is held,
// and lets the waits ask there (moving.cc). While a *bequest* is under way, releases are put off.
//
// The parts: session.cc what users call; waiting.cc an attempt's way; answers.cc what nodes say;
// reaching.cc which node is asked; moving.cc what is done when a node leaves.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "client/addresses.h"
#include "client/channel.h"
#include "client/connection.h"
#include "turno/client.h"

namespace turno {

class Client::Session {
 public:
  using Clock = client::Clock;
  using Named = client::Named;
  using Held = client::Held;

  Session(const std::vector<net::Address>& addresses, Client::Options options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  tl::expected<void, Error> connect();
  [[nodiscard]] Identity identity();
  tl::expected<Named*, Error> open(std::string_view name, client::Thing thing);
  void close(Named* lock);
  tl::expected<Held*, Error> acquire(Named& lock, const Request& request,
                                     const std::stop_token& stop);
  void release(Held* held);
  void catch_up(std::chrono::milliseconds longest);
  // A node for an observer; `silent` did not answer it.
  tl::expected<net::Address, Error> find_node(const std::optional<net::Address>& silent,
                                              const std::stop_token& stop);
  [[nodiscard]] const Client::Options& options() const { return options_; }
  tl::expected<void, Error> renew(Held& held, std::chrono::milliseconds ttl);
  // Asks a node anything that it can answer by itself or with the others' help, soon. To find one
  // and to hear it takes at most `longest`, or as long as the options say.
  tl::expected<wire::Reply, Error> call(const client::Connection::Arguments& arguments,
                                        std::optional<std::chrono::milliseconds> longest = {});
  [[nodiscard]] std::vector<std::string> addresses();

 private:
  using Attempt = client::Attempt;
  using Channel = client::Channel;
  using Place = client::Place;
  using Reply = wire::Reply;
  using Guard = std::unique_lock<std::mutex>;
  using Lost = std::vector<std::stop_source>;  // to be requested when the mutex is free
  using AttemptPointer = std::shared_ptr<Attempt>;
  using ChannelPointer = std::shared_ptr<Channel>;
  using PlacePointer = std::shared_ptr<Place>;

  // These are called with the mutex held.

  void ask_next(Named& lock);
  void ask(const AttemptPointer& attempt, Channel& channel);
  void withdraw(Attempt& attempt);
  void leave_old_queues(const Attempt& attempt);
  void cancel(const PlacePointer& place);
  void give_up(const PlacePointer& place);
  // Put off during a bequest, or not.
  void give_back(Channel& channel, const client::Bequest::Release& release);
  static void unlock(Channel& channel, const client::Bequest::Release& release);
  Held* find_held(std::string_view name, std::uint64_t fence, std::string_view thing);
  // An attempt ends: its thread goes away; a place has a grant; no place is left.
  void leave(const AttemptPointer& attempt);
  void grant(const PlacePointer& place, std::uint64_t fence, std::vector<std::uint32_t> permits,
             std::vector<Resource> resources);
  void finish(const AttemptPointer& attempt, Error error);
  // A place ends: by a word of the node; or the attempt needs another one.
  void settle(const PlacePointer& place, Error error);
  void strand(const PlacePointer& place, const std::string& reason, bool perhaps_taken);
  void detach(const PlacePointer& place);
  void lose(Held& held, std::string reason, Lost& lost);
  void stop_using(Named& lock);
  PlacePointer place_at(Channel& channel, std::int64_t ticket);
  // New requests and waits go elsewhere.
  void retire(Channel& channel, const std::string& reason);
  void end_if_idle(Channel& channel);
  // Asks for a sign of life now and then. When to look again; nothing: the node is silent.
  std::optional<Clock::time_point> watch(Channel& channel, std::chrono::milliseconds patience);

  bool adopt(const ChannelPointer& channel);
  // Locks and elections, or permits of semaphores and so on, which cannot move.
  [[nodiscard]] std::vector<Held*> held_by(const Channel& channel, bool several = false);
  [[nodiscard]] std::vector<Held*> permits_by(const Channel& channel) {
    return held_by(channel, true);
  }
  [[nodiscard]] bool has_waits(const Channel& channel) const;
  void begin_to_move(Channel& channel);
  void move_waits(Channel& old, Channel& heir);
  void hand_over(Held& held, const ChannelPointer& heir);
  void finish_bequest(Channel& old);
  void take_stock(Channel& old, const Reply& held);

  // These let go of it for a while.

  void move_away(Guard& guard, const ChannelPointer& old);
  ChannelPointer find_heir(Guard& guard, const Channel& old,
                           const std::vector<net::Address>& refused);
  bool bequeath(Guard& guard, const ChannelPointer& old, const ChannelPointer& heir);
  void ask_heir(Guard& guard, const ChannelPointer& old, const ChannelPointer& heir);
  void ask_what_it_has(Guard& guard, Channel& old, Channel& heir, Clock::time_point limit);

  tl::expected<Held*, Error> wait(Guard& guard, const AttemptPointer& attempt,
                                  const std::stop_token& stop);
  // Nothing, or why the attempt fails.
  std::optional<Error> find_place(Guard& guard, const AttemptPointer& attempt,
                                  const std::stop_token& stop);
  void wait_for_answer(Guard& guard, const AttemptPointer& attempt,
                       std::optional<Clock::time_point> limit);
  // Makes sure that there is a current channel. Fails when the time is over, or at once if nobody
  // listens anywhere; who `persists` tries again then, too.
  tl::expected<void, Error> reach(Guard& guard, Clock::time_point limit,
                                  const std::stop_token& stop, bool persists);

  // These take it.

  tl::expected<ChannelPointer, Error> open_channel(const client::Addresses::Known& known,
                                                   std::chrono::milliseconds patience);
  tl::expected<ChannelPointer, Error> try_all(Clock::time_point limit, const std::stop_token& stop,
                                              bool persists);
  bool find_nodes();
  void sweep();
  void run_mover();
  std::string holder_of(const std::string& name, client::Thing thing, Clock::time_point limit);
  bool on_ticket(const PlacePointer& place, Reply* reply);
  bool on_cancelled(const PlacePointer& place, Reply* reply);
  bool on_push(Channel& channel, Reply& push);
  void learn(const net::Address& source, const Reply& members);
  bool on_lost(Channel& channel, const Reply& push);
  bool on_bequeathed(Channel& old, Reply* reply);
  void on_closed(Channel& channel, const std::string& reason);

  [[nodiscard]] std::chrono::milliseconds patience_of(const Attempt& attempt) const;
  [[nodiscard]] std::chrono::milliseconds longest_try() const;
  void say(const std::string& text) const;

  const Client::Options options_;

  std::mutex mutex_;
  std::map<std::string, Named, std::less<>> names_;  // by their keys
  std::uint64_t several_ = 0;             // grants of semaphores and rooms, opened so far
  std::vector<ChannelPointer> channels_;  // all that live
  ChannelPointer current_;                // or none
  Identity identity_;
  client::Addresses addresses_;
  bool reaching_ = false;  // a thread connects: one at a time
  std::condition_variable reached_;

  std::vector<ChannelPointer> leaving_;  // for the mover
  std::thread mover_;                    // from the first that leaves to the last
  bool moving_ = false;
  bool ending_ = false;
  std::condition_variable moved_;  // something has moved, or cannot
};

// For messages.
namespace client {
std::string quoted(std::string_view name, Thing thing);
inline std::string quoted(const Named& lock) { return quoted(lock.name, lock.thing); }
std::string milliseconds(std::chrono::milliseconds time);
inline bool is_integer(const wire::Reply& reply) {
  return reply.kind == wire::Reply::Kind::integer;
}
}  // namespace client

}  // namespace turno

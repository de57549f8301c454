// What a client knows about its locks. The node knows a session as one holder: it lets it ask for a
// lock once at a time. So the threads of this program queue here for each lock, and only the first
// of them stands in the node's queue.
//
// An attempt is one call of acquire(): queued here, then asked of the node, then done. Its thread
// may go away before the node has answered; then it is *withdrawn*, and whoever hears the answer
// gives back what was granted. So nothing is left behind.
//
// Invariants, under the mutex: (1) a lock is held, or one attempt is asked, or neither, never both;
// (2) attempts are queued only behind a holder or an asked attempt; (3) all that is held or asked
// belongs to the current connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/connection.h"
#include "turno/client.h"

namespace turno {

class Client::Session {
 public:
  using Clock = std::chrono::steady_clock;

  Session(net::Address address, Client::Options options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  struct Attempt;
  struct Held;
  // Lives in names_ as long as somebody uses it.
  struct Named {
    std::string name;
    std::size_t users = 0;           // who opened it, attempts and holds
    Held* held = nullptr;            // and not lost
    std::shared_ptr<Attempt> asked;  // the node is to answer
    std::deque<std::shared_ptr<Attempt>> queued;
  };
  struct Held {
    Named* lock = nullptr;
    std::uint64_t fence = 0;
    std::atomic<bool> lost = false;
    std::string reason;  // why it was lost
    std::stop_source stop;
  };

  tl::expected<void, Error> connect();
  [[nodiscard]] Identity identity();
  tl::expected<Named*, Error> open(std::string_view name);
  void close(Named* lock);
  tl::expected<Held*, Error> acquire(Named& lock, const Request& request,
                                     const std::stop_token& stop);
  void release(Held* held);
  tl::expected<void, Error> renew(Held& held, std::chrono::milliseconds ttl);
  // Connects if need be, and asks the node anything that is answered at once.
  tl::expected<wire::Reply, Error> call(const client::Connection::Arguments& arguments);

 private:
  using Reply = wire::Reply;
  using Guard = std::unique_lock<std::mutex>;
  using Lost = std::vector<std::stop_source>;  // to be requested when the mutex is free

  // These are called with the mutex held.
  void ask_next(Named& lock);
  void withdraw(const std::shared_ptr<Attempt>& attempt);
  void leave_queue(const std::shared_ptr<Attempt>& attempt);
  void grant(Attempt& attempt, std::uint64_t fence);
  void fail(Attempt& attempt, Error error);
  void give_back(std::string_view name, std::uint64_t fence);
  void lose(Held& held, std::string reason, Lost& lost);
  void stop_using(Named& lock);
  std::shared_ptr<Attempt> attempt_of(std::int64_t ticket);

  // Lets go of it while it waits.
  tl::expected<Held*, Error> wait(Guard& guard, const std::shared_ptr<Attempt>& attempt,
                                  const std::stop_token& stop);

  // These take it.
  std::string holder_of(const std::string& name);
  bool on_ticket(const std::shared_ptr<Attempt>& attempt, Reply* reply);
  bool on_cancelled(const std::shared_ptr<Attempt>& attempt, Reply* reply);
  bool on_push(Reply& push);
  void on_closed(const std::string& reason);

  const net::Address address_;
  const Client::Options options_;

  std::mutex connecting_;  // one thread at a time; taken before mutex_
  std::mutex mutex_;
  std::map<std::string, Named, std::less<>> names_;
  std::unordered_map<std::int64_t, std::shared_ptr<Attempt>> tickets_;  // the asked attempts
  std::shared_ptr<client::Connection> connection_;                      // unbroken, or none
  Identity identity_;
  std::shared_ptr<client::Connection> broken_;  // cannot be destroyed in its own thread
};

}  // namespace turno

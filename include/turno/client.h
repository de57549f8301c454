// A session with a cluster whose nodes are other processes.
//
// A client needs one address of the cluster and learns the others. It stays with one node. When
// that node dies, leaves or stops answering, the client goes on with another: its *waits* move, and
// stand at the end of the queue again; what it *holds* is lost if the connection has ended, and is
// kept if the node is only silent. One connection and one thread that reads it, normally; more
// while something is held at a node that is not asked any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "turno/error.h"
#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

// Who holds a lock or leads an election, as the node sees it. If `kept_for` or `told_by` is not
// empty, or it is `leaving`, no session is known to hold it, and there is no session, client or
// fence.
struct Holder {
  std::string node;
  std::string session;
  std::string client;  // the name that the session gave itself, if any
  std::uint64_t fence = 0;
  std::chrono::milliseconds held{0};
  std::uint64_t waiting = 0;  // how many wait for it
  std::string from = {};      // where it is: an address, or "unix:pid=7,user=alice"
  std::string kind = {};      // lock, semaphore, election or room
  std::string value = {};     // of a leader; its term is the fence
  // Permits of a semaphore, or users that are inside a room: then there is no single holder.
  std::uint64_t in_use = 0, inside = 0;

  std::string kept_for;  // nodes that died: their clients may still use it
  std::chrono::milliseconds free_in{0};
  bool leaving = false;  // nobody gets it before `node` has left
  // `node` does not answer. It has told this node, `held` ago, that it has the lock.
  std::string told_by;
};

class Client final : public Service {
 public:
  // How the node calls itself and this session.
  struct Identity {
    std::string node;
    std::string session;
    // How long the locks of a node that crashed stay closed; so long a holder has to stop. Nothing
    // if the node does not say.
    std::optional<std::chrono::milliseconds> lock_delay = {};
    bool draining = false;  // the node is about to leave
  };
  struct Options {
    std::string name = {};  // shown to others who ask who holds a lock; no spaces
    // So long nodes are looked for, if the request has no timeout of its own.
    std::chrono::milliseconds connect_timeout{5000};
    // A node that lives answers much sooner. One that says nothing for so long is taken for
    // stopped; a request with a timeout looks for another node sooner. And a request that was
    // cancelled waits so long for the node to confirm that nothing is left behind; one whose time
    // is over waits at most half a second for that, and for the name of the holder.
    std::chrono::milliseconds answer_timeout{2000};
    bool learn_members = true;  // false: only the given addresses are used

    // Hooks are called in a thread of the client or of its user. They must not block, nor call the
    // client.

    // More addresses, if none of the known ones can be used: of nodes that were started since.
    std::function<std::vector<std::string>()> find_nodes = {};
    // Says for people what happened: a wait was moved, a lock was moved.
    std::function<void(const std::string& text)> notice = {};
    // With the descriptor of the connection by which a lock is held: before acquire() returns it,
    // and when it was moved. Valid during the call.
    std::function<void(int descriptor)> held_by = {};
  };

  // An address is host:port, [ipv6]:port, unix:PATH or the path of a socket (with a slash in it).
  // Of several one is chosen by chance, and the others are tried if it does not answer.
  [[nodiscard]] static tl::expected<std::unique_ptr<Client>, Error> connect(
      const std::vector<std::string>& addresses, Options options);
  [[nodiscard]] static tl::expected<std::unique_ptr<Client>, Error> connect(
      std::string_view address, Options options) {
    return connect(std::vector{std::string(address)}, std::move(options));
  }
  [[nodiscard]] static tl::expected<std::unique_ptr<Client>, Error> connect(
      std::string_view address) {
    return connect(address, Options());
  }
  // Ends the session: what it holds is released. REQUIRES: no thread is inside a call, and it is
  // not called from a callback of lost_token().
  ~Client() override;

  // Of the last connection: another one is another session.
  [[nodiscard]] Identity identity() const;
  // Waits, at most so long, until all that nodes have said is known here: a process that was
  // stopped may have been told meanwhile that a lock is lost.
  void catch_up(std::chrono::milliseconds longest);
  // Nothing if the lock is free. The node asks all others, so that it can take a while. If one of
  // them does not answer, and none of the others has the lock, the error is `unavailable`.
  // `kind`: lock, semaphore, election or room; empty: the first of these that somebody has or
  // wants.
  [[nodiscard]] tl::expected<std::optional<Holder>, Error> who(std::string_view name,
                                                               std::string_view kind = {});
  // The same, but finding a node and its answer take at most so long.
  [[nodiscard]] tl::expected<std::optional<Holder>, Error> who(std::string_view name,
                                                               std::string_view kind,
                                                               std::chrono::milliseconds longest);
  // Where nodes are known, the one that is used first.
  [[nodiscard]] std::vector<std::string> addresses() const;

  using Service::acquire;
  [[nodiscard]] tl::expected<Lock, Error> open(std::string_view name) override;
  [[nodiscard]] tl::expected<Lock, Error> open_semaphore(std::string_view name) override;
  [[nodiscard]] tl::expected<Lock, Error> open_election(std::string_view name) override;
  [[nodiscard]] tl::expected<Lock, Error> open_room(std::string_view name) override;
  [[nodiscard]] tl::expected<Lock, Error> open_store(std::string_view name) override;
  [[nodiscard]] tl::expected<std::optional<Leader>, Error> leader(
      std::string_view election) override;
  [[nodiscard]] tl::expected<std::unique_ptr<Observation>, Error> observe(
      std::string_view election, LeaderChanged changed) override;
  [[nodiscard]] std::vector<std::uint32_t> permits(Hold hold) const override;
  [[nodiscard]] std::vector<Resource> resources(Hold hold) const override;
  void close(Lock lock) noexcept override;
  [[nodiscard]] tl::expected<Grant, Error> acquire(Lock lock, const Request& request,
                                                   std::stop_token stop) override;
  // Tells the node also if the lock was lost: a node that leaves waits for that.
  void release(Hold hold, std::uint64_t fence) noexcept override;
  [[nodiscard]] tl::expected<void, Error> renew(Hold hold, std::uint64_t fence,
                                                std::chrono::milliseconds ttl) override;
  [[nodiscard]] std::string_view name(Hold hold) const noexcept override;
  [[nodiscard]] bool lost(Hold hold, std::uint64_t fence) const noexcept override;
  [[nodiscard]] std::stop_token lost_token(Hold hold, std::uint64_t fence) override;

 private:
  class Session;
  explicit Client(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

}  // namespace turno

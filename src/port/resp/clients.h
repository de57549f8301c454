// The port for clients: RESP, the protocol of Redis, over TCP and over a Unix socket.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "net/acceptor.h"
#include "net/log.h"
#include "port/host.h"
#include "port/resp/deadlock/deadlock_watch.h"
#include "port/resp/leases.h"
#include "port/resp/session.h"

namespace turno::port {

class Connection;

// Lives in the loop's thread, but for lost().
class Clients {
 public:
  // Accepts on these sockets. Who begins a command finishes it within `patience`.
  Clients(Host& host, std::vector<net::Fd> sockets,
          std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void remove(Connection& connection);
  Session& make_session();
  // A connection speaks for this session no more.
  void left(Session& session);
  // The session is over, and who speaks for it is told.
  void break_off(Session& session, std::string_view reason);
  // Nobody speaks for this session any more, but it stays as it is.
  void cut(Session& session);
  [[nodiscard]] Session* find(std::uint64_t session);
  // What a session of another node has, which moves to one here. Says why it cannot be, or nothing.
  [[nodiscard]] std::string inherit(std::uint64_t member, std::uint64_t number,
                                    const table::Will& will);
  // A grant was taken away. From any thread.
  void lost(const Owner& owner, Thing thing, const std::string& name, Fence fence,
            std::string_view reason);
  // Who leads an election has changed: for those who observe it.
  void tell_leader(const Leadership& change);
  void tell_members(const cluster::View& view);
  [[nodiscard]] bool anybody_holds() const;
  // Says goodbye to all: the node ends.
  void end();

  [[nodiscard]] Host& host() { return host_; }
  [[nodiscard]] Leases& leases() { return leases_; }
  [[nodiscard]] DeadlockWatch& deadlocks() { return deadlocks_; }
  [[nodiscard]] const DeadlockWatch& deadlocks() const { return deadlocks_; }
  [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }
  [[nodiscard]] std::size_t size() const { return connections_.size(); }
  [[nodiscard]] std::uint64_t connections() const { return admitted_; }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  void count_command() { ++commands_; }
  // All sessions of this node, by their numbers.
  using Sessions = std::unordered_map<std::uint64_t, std::unique_ptr<Session>>;
  [[nodiscard]] const Sessions& sessions() const { return sessions_; }

 private:
  static std::size_t most_connections();
  void admit(net::Fd socket);
  void retire(Session& session);
  void clean_up_later();

  Host& host_;
  const std::chrono::milliseconds patience_;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
  const std::size_t most_connections_ = most_connections();
  log::Limiter refused_{1, std::chrono::seconds(10)};
  DeadlockWatch deadlocks_;
  Sessions sessions_;
  std::unordered_set<std::uint64_t> kept_;  // sessions that stay without a connection
  Leases leases_;
  // They may be at work right now: they go when their work is done.
  std::vector<std::unique_ptr<Session>> retired_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> leaving_;
  std::uint64_t admitted_ = 0, commands_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace turno::port

// The port for clients: RESP, the protocol of Redis, over TCP and over a Unix socket.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/acceptor.h"
#include "port/host.h"

namespace turno::port {

class Connection;
class Session;

// Lives in the loop's thread, but for lost().
class Clients {
 public:
  // Accepts on these sockets.
  Clients(Host& host, std::vector<net::Fd> sockets);
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void remove(Connection& connection);
  // A connection speaks for this session no more.
  void left(Session& session);
  // A grant was taken away. From any thread, with the table locked.
  void lost(const Owner& owner, const std::string& lock, Fence fence, std::string_view reason);
  // Says goodbye to all.
  void end();

  [[nodiscard]] Host& host() { return host_; }
  [[nodiscard]] std::size_t size() const { return connections_.size(); }
  [[nodiscard]] std::uint64_t connections() const { return admitted_; }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  void count_command() { ++commands_; }
  // All sessions of this node, by their numbers.
  using Sessions = std::unordered_map<std::uint64_t, std::unique_ptr<Session>>;
  [[nodiscard]] const Sessions& sessions() const { return sessions_; }

 private:
  void admit(net::Fd socket);

  Host& host_;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
  Sessions sessions_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  // They may be at work right now: they go when their work is done.
  std::vector<std::unique_ptr<Connection>> leaving_;
  std::uint64_t admitted_ = 0, commands_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace turno::port

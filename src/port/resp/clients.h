// The port for clients: RESP, the protocol of Redis, over TCP and over a Unix socket.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/acceptor.h"
#include "port/host.h"

namespace turno::port {

class Session;

// Lives in the loop's thread, but for lost().
class Clients {
 public:
  // Accepts on these sockets.
  Clients(Host& host, std::vector<net::Fd> sockets);
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void remove(Session& session);
  // A grant was taken away. From any thread, with the table locked.
  void lost(const Owner& owner, const std::string& lock, Fence fence, std::string_view reason);
  // Says goodbye to all.
  void end();

  [[nodiscard]] Host& host() { return host_; }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }
  [[nodiscard]] std::uint64_t connections() const { return connections_; }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  void count_command() { ++commands_; }

 private:
  void admit(net::Fd socket);

  Host& host_;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Session>> sessions_;
  std::uint64_t connections_ = 0, commands_ = 0;
};

}  // namespace turno::port

// The port for browsers, Prometheus and health checks: a small HTTP/1.1 server in the node's loop.
#pragma once

#include <chrono>
#include <memory>
#include <unordered_map>

#include "net/acceptor.h"
#include "port/host.h"
#include "port/http/pages.h"
#include "port/resp/clients.h"

namespace turno::port {

// Lives in the loop's thread.
class Http {
 public:
  struct Times {
    std::chrono::milliseconds head{5'000};    // to send a whole request, from its first byte
    std::chrono::milliseconds idle{60'000};   // between two requests, or without reading
    std::chrono::milliseconds linger{2'000};  // to hang up after the last response
  };
  static constexpr std::size_t most_connections = 256;

  Http(Host& host, Clients& clients, net::Fd socket, Times times);
  Http(Host& host, Clients& clients, net::Fd socket)
      : Http(host, clients, std::move(socket), Times()) {}
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

 private:
  class Connection;

  void admit(net::Fd socket);
  void remove(Connection& connection);

  Host& host_;
  Pages pages_;
  const Times times_;
  std::unique_ptr<net::Acceptor> acceptor_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  bool full_ = false;  // somebody was turned away since the last connection ended
};

}  // namespace turno::port

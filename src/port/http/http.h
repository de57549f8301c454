// A small HTTP/1.1 server in a loop: the port of a node for browsers, Prometheus and health checks,
// and `turno ui`. What it answers is up to who makes it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "net/acceptor.h"
#include "net/loop.h"
#include "port/http/http_message.h"

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
  using Done = std::function<void(const HttpResponse&)>;
  // Calls `done` once, at once or later. In the loop's thread.
  using Answer = std::function<void(const HttpRequest&, const Done& done)>;

  Http(net::Loop& loop, net::Fd socket, Answer answer, Times times);
  Http(net::Loop& loop, net::Fd socket, Answer answer)
      : Http(loop, std::move(socket), std::move(answer), Times()) {}
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

 private:
  class Connection;

  void admit(net::Fd socket);
  void remove(Connection& connection);

  net::Loop& loop_;
  const Answer answer_;
  const Times times_;
  std::unique_ptr<net::Acceptor> acceptor_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  bool full_ = false;  // somebody was turned away since the last connection ended
};

}  // namespace turno::port

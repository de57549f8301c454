// Listens, and hands over each connection that comes in.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "net/log.h"
#include "net/loop.h"
#include "net/socket.h"

namespace turno::net {

class Acceptor final : public Loop::Watcher {
 public:
  using Take = std::function<void(Fd)>;

  static tl::expected<std::unique_ptr<Acceptor>, Failure> listen(Loop& loop,
                                                                 std::string_view address,
                                                                 Take take) {
    auto socket = net::listen(address);
    if (!socket) return tl::unexpected(socket.error());
    return std::make_unique<Acceptor>(loop, std::move(*socket), std::move(take));
  }
  Acceptor(Loop& loop, Fd socket, Take take);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  void ready(std::uint32_t events) override;

  Loop& loop_;
  Fd socket_;
  Take take_;
  std::string address_;
  Loop::Timer rest_;  // after running out of descriptors
  log::Limiter exhausted_{1, std::chrono::seconds(10)};
};

}  // namespace turno::net

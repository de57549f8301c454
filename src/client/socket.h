// A stream socket to a node: finding it, connecting in bounded time, sending without waiting.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "turno/error.h"

namespace turno::client {

struct Address {
  std::string path;        // of a Unix socket, or empty
  std::string host, port;  // of TCP

  [[nodiscard]] std::string text() const;
  bool operator==(const Address&) const = default;
};

// host:port, [ipv6]:port, unix:PATH, or a path with a slash in it.
tl::expected<Address, Error> parse_address(std::string_view text);

// Owns the descriptor. It is not inherited by programs that are executed.
class Socket {
 public:
  static tl::expected<Socket, Error> connect(const Address& address,
                                             std::chrono::milliseconds timeout);

  Socket(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket();

  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Both never wait and are made again after a signal. How many bytes were taken; `again` if it
  // would have to wait, an error's number negated.
  static constexpr std::ptrdiff_t again = -11;  // -EAGAIN
  std::ptrdiff_t send(std::string_view bytes) const;
  std::ptrdiff_t receive(std::span<char> bytes) const;  // 0: the other side has closed
  // The other side sees the end, here everything fails from now on.
  void shut_down() const;

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace turno::client

// The bytes of one connection, in and out: the only place where a connected socket is read and
// written, so what is done to bytes on their way is done here. Nothing waits, and a signal
// interrupts nothing.
//
// Thread safety: one thread may send while another receives.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/fd.h"

namespace turno::net {

class ByteStream {
 public:
  ByteStream() = default;
  explicit ByteStream(Fd socket) : socket_(std::move(socket)) {}

  // What came of it: some bytes were moved; or it would have to wait; or the connection has ended.
  struct Moved {
    std::size_t bytes = 0;
    bool blocked = false;
    bool ended = false;
    int error = 0;  // of a connection that broke; 0: the other side closed it

    [[nodiscard]] std::string reason() const;  // why it ended
  };
  Moved send(std::string_view bytes) const;
  Moved receive(std::span<char> room) const;
  // As much as goes without waiting.
  Moved send_all(std::string_view bytes) const;

  // The other side sees the end, when it has read what was sent.
  void finish() const;
  // The same, and here everything fails from now on.
  void shut_down() const;
  void close() { socket_.reset(); }

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(socket_); }
  [[nodiscard]] const Fd& socket() const { return socket_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  Fd socket_;
};

}  // namespace turno::net

#include "net/byte_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace turno::net {

namespace {

// Of a system call that moved nothing.
ByteStream::Moved nothing_moved(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) return {.blocked = true};
  return {.ended = true, .error = error};
}

}  // namespace

std::string ByteStream::Moved::reason() const {
  return error == 0 ? "closed by the other side" : std::generic_category().message(error);
}

ByteStream::Moved ByteStream::send(std::string_view bytes) const {
  for (;;) {
    const auto count =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return {.bytes = static_cast<std::size_t>(count)};
    if (errno != EINTR) return nothing_moved(errno);
  }
}

ByteStream::Moved ByteStream::send_all(std::string_view bytes) const {
  Moved all;
  while (all.bytes < bytes.size() && !all.blocked && !all.ended) {
    auto moved = send(bytes.substr(all.bytes));
    moved.bytes += all.bytes;
    all = moved;
  }
  return all;
}

ByteStream::Moved ByteStream::receive(std::span<char> room) const {
  for (;;) {
    const auto count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (count > 0) return {.bytes = static_cast<std::size_t>(count)};
    if (count == 0) return {.ended = true};
    if (errno != EINTR) return nothing_moved(errno);
  }
}

void ByteStream::finish() const { ::shutdown(socket_.get(), SHUT_WR); }

void ByteStream::shut_down() const { ::shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace turno::net

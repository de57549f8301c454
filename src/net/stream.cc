#include "net/stream.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace turno::net {

Stream::Stream(Loop& loop, Fd socket) : loop_(loop), socket_(std::move(socket)) {
  watched_ = EPOLLIN;
  loop_.watch(socket_.get(), watched_, *this);
}

Stream::~Stream() { close(); }

void Stream::close() {
  if (!socket_) return;
  loop_.forget(socket_.get(), *this);
  socket_.reset();
}

void Stream::finish() {
  finishing_ = true;
  flush();
}

void Stream::flush() {
  while (socket_ && written_ < out_.size()) {
    const auto sent = ::send(socket_.get(), out_.data() + written_, out_.size() - written_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      // A broken connection is seen when it is read.
      if (errno != EAGAIN && errno != EWOULDBLOCK) written_ = out_.size();
      break;
    }
    written_ += static_cast<std::size_t>(sent);
  }
  if (written_ == out_.size()) {
    out_.clear();
    written_ = 0;
    if (out_.capacity() > std::size_t{1} << 20) out_.shrink_to_fit();
    if (finishing_ && socket_) {
      ::shutdown(socket_.get(), SHUT_WR);
      finishing_ = false;
    }
  } else if (written_ > std::size_t{1} << 16 && written_ >= out_.size() / 2) {
    out_.erase(0, written_);
    written_ = 0;
  }
  update();
}

void Stream::pause_reading(bool paused) {
  paused_ = paused;
  update();
}

void Stream::update() {
  if (!socket_) return;
  // A peer that hangs up is noticed also while nothing is read from it.
  const std::uint32_t wanted = (paused_ ? static_cast<std::uint32_t>(EPOLLRDHUP) : EPOLLIN) |
                               (unwritten() > 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  if (wanted == watched_) return;
  watched_ = wanted;
  loop_.change(socket_.get(), wanted, *this);
}

std::size_t Stream::receive(std::span<char> room) {
  for (;;) {
    const auto count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    end_ = count == 0 ? "closed by the other side" : std::strerror(errno);
    return 0;
  }
}

void Stream::ready(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) {
    writable();
    if (socket_) flush();
  }
  if (!socket_) return;
  if ((events & EPOLLIN) != 0 && !paused_) {
    readable();  // may close or destroy this
    return;
  }
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
    closed((events & EPOLLERR) != 0 ? "broken" : "closed by the other side");
}

}  // namespace turno::net

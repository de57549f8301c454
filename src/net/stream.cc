#include "net/stream.h"

#include <sys/epoll.h>

namespace turno::net {

Stream::Stream(Loop& loop, Fd socket) : loop_(loop), bytes_(std::move(socket)) {
  watched_ = EPOLLIN;
  loop_.watch(bytes_.descriptor(), watched_, *this);
}

Stream::~Stream() { close(); }

void Stream::close() {
  if (!bytes_) return;
  loop_.forget(bytes_.descriptor(), *this);
  bytes_.close();
}

void Stream::finish() {
  finishing_ = true;
  flush();
}

void Stream::flush() {
  if (bytes_) {
    const auto moved = bytes_.send_all(std::string_view(out_).substr(written_));
    // A broken connection is seen when it is read.
    written_ = moved.ended ? out_.size() : written_ + moved.bytes;
  }
  if (written_ == out_.size()) {
    out_.clear();
    written_ = 0;
    if (out_.capacity() > std::size_t{1} << 20) out_.shrink_to_fit();
    if (finishing_ && bytes_) {
      bytes_.finish();
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
  if (!bytes_) return;
  // A peer that hangs up is noticed also while nothing is read from it.
  const std::uint32_t wanted = (paused_ ? static_cast<std::uint32_t>(EPOLLRDHUP) : EPOLLIN) |
                               (unwritten() > 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  if (wanted == watched_) return;
  watched_ = wanted;
  loop_.change(bytes_.descriptor(), wanted, *this);
}

std::size_t Stream::receive(std::span<char> room) {
  const auto moved = bytes_.receive(room);
  if (moved.ended) end_ = moved.reason();
  return moved.bytes;
}

void Stream::ready(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) {
    writable();
    if (bytes_) flush();
  }
  if (!bytes_) return;
  if ((events & EPOLLIN) != 0 && !paused_) {
    readable();  // may close or destroy this
    return;
  }
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
    closed((events & EPOLLERR) != 0 ? "broken" : "closed by the other side");
}

}  // namespace turno::net

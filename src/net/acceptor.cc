#include "net/acceptor.h"

#include <sys/epoll.h>

#include <cerrno>

namespace turno::net {

Acceptor::Acceptor(Loop& loop, Fd socket, Take take)
    : loop_(loop),
      socket_(std::move(socket)),
      take_(std::move(take)),
      address_(address_of(socket_)) {
  loop_.watch(socket_.get(), EPOLLIN, *this);
}

Acceptor::~Acceptor() {
  loop_.cancel(rest_);
  loop_.forget(socket_.get(), *this);
  if (address_.starts_with("unix:")) ::unlink(address_.c_str() + 5);
}

void Acceptor::ready(std::uint32_t) {
  for (int i = 0; i < 64; ++i) {
    auto socket = accept(socket_);
    if (socket) {
      take_(std::move(socket));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) {
      if (const auto unsaid = exhausted_.admit())
        log::warning(
            "{}: too many open files: who connects now must wait until others hang up, or until "
            "the limit (ulimit -n) is raised{}",
            address_, *unsaid);
      // Would be ready again at once: look again when somebody may have hung up.
      loop_.change(socket_.get(), 0, *this);
      loop_.cancel(rest_);
      rest_ = loop_.after(std::chrono::milliseconds(100),
                          [this] { loop_.change(socket_.get(), EPOLLIN, *this); });
    }
    return;
  }
}

}  // namespace turno::net

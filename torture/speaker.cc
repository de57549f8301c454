#include "speaker.h"

#include <poll.h>

#include <algorithm>

#include "records.h"

namespace turno::torture {

using namespace std::chrono_literals;

std::unique_ptr<Speaker> Speaker::connect(const std::string& path) {
  const auto address = client::parse_address("unix:" + path);
  if (!address) return nullptr;
  auto socket = client::Socket::connect(*address, 5s);
  if (!socket) return nullptr;
  return std::unique_ptr<Speaker>(new Speaker(std::move(*socket)));
}

void Speaker::say(std::initializer_list<std::string_view> words) {
  wire::write_request(unsent_, words);
}

std::optional<wire::Reply> Speaker::hear(std::chrono::milliseconds patience) {
  const auto end = now_ns() + std::chrono::nanoseconds(patience).count();
  for (bool over = false;;) {
    if (parser_.next() == wire::Status::ready) return std::move(parser_.reply());
    if (over) return {};
    const auto left = std::max<std::int64_t>(0, (end - now_ns()) / 1'000'000);
    over = !move(static_cast<int>(left)) || left == 0;
  }
}

// False: the connection has ended.
bool Speaker::move(int patience_ms) {
  const bool more = !unsent_.empty();
  pollfd ready{socket_.descriptor(), static_cast<short>(POLLIN | (more ? POLLOUT : 0)), 0};
  ::poll(&ready, 1, patience_ms);
  if (more && (ready.revents & POLLOUT) != 0) {
    const auto sent = socket_.send(unsent_);
    if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  if ((ready.revents & (POLLIN | POLLHUP)) == 0) return true;
  char bytes[65536];
  const auto size = socket_.receive(bytes);
  if (size == 0 || (size < 0 && size != client::Socket::again)) return false;
  if (size > 0) parser_.feed({bytes, static_cast<std::size_t>(size)});
  return true;
}

}  // namespace turno::torture

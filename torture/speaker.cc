#include "speaker.h"

#include <poll.h>

#include <algorithm>

#include "net/socket.h"
#include "records.h"

namespace turno::torture {

using namespace std::chrono_literals;

std::unique_ptr<Speaker> Speaker::connect(const std::string& path) {
  auto socket = net::connect_within({.path = path}, 5s);
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
  pollfd ready{stream_.descriptor(), static_cast<short>(POLLIN | (more ? POLLOUT : 0)), 0};
  ::poll(&ready, 1, patience_ms);
  if (more && (ready.revents & POLLOUT) != 0) unsent_.erase(0, stream_.send(unsent_).bytes);
  if ((ready.revents & (POLLIN | POLLHUP)) == 0) return true;
  char bytes[65536];
  const auto moved = stream_.receive(bytes);
  parser_.feed({bytes, moved.bytes});
  return !moved.ended;
}

}  // namespace turno::torture

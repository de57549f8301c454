#include "client/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

namespace turno::client {

namespace {

using Clock = std::chrono::steady_clock;

static_assert(Socket::again == -EAGAIN && EAGAIN == EWOULDBLOCK);

tl::unexpected<Error> invalid_address(std::string_view text, std::string_view why) {
  return tl::unexpected(
      Error{Error::Code::invalid, "'" + std::string(text) + "' is not an address of a node: " +
                                      std::string(why) + "; write HOST:PORT or unix:PATH"});
}

tl::unexpected<Error> unreachable(const Address& address, std::string_view why) {
  return tl::unexpected(Error{Error::Code::unavailable,
                              "no node answers at " + address.text() + " (" + std::string(why) +
                                  "); is it running, and is the address right?"});
}

std::string reason(int error) { return std::generic_category().message(error); }

// Waits for a connection that is being made. 0, or the error's number.
int finish_connecting(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const auto count = ::poll(&ready, 1, static_cast<int>(std::min<long>(left, 3'600'000)));
    if (count < 0 && errno != EINTR) return errno;
    if (count <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    return error;
  }
}

// 0, or the error's number.
int connect_to(int descriptor, const sockaddr* address, socklen_t size,
               Clock::time_point deadline) {
  if (::connect(descriptor, address, size) == 0) return 0;
  if (errno == EINPROGRESS || errno == EINTR) return finish_connecting(descriptor, deadline);
  return errno;
}

// A node's machine that vanished without a word is noticed within half a minute.
void watch_over(int descriptor) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

}  // namespace

std::string Address::text() const {
  if (!path.empty()) return "unix:" + path;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

tl::expected<Address, Error> parse_address(std::string_view text) {
  constexpr std::string_view scheme = "unix:";
  const bool is_local = text.starts_with(scheme);
  if (is_local || text.find('/') != std::string_view::npos) {
    const auto path = is_local ? text.substr(scheme.size()) : text;
    if (path.empty()) return invalid_address(text, "it has no path");
    if (path.find('\0') != std::string_view::npos) return invalid_address(text, "it holds a zero");
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return invalid_address(text, "the path of a socket has at most 107 bytes");
    return Address{.path = std::string(path)};
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid_address(text, "it has no port");
  auto host = text.substr(0, colon);
  const auto port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return invalid_address(text, "an IPv6 address stands in brackets");
  }
  if (host.empty()) return invalid_address(text, "it has no host");
  if (port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != std::string_view::npos ||
      std::stoi(std::string(port)) < 1 || std::stoi(std::string(port)) > 65535)
    return invalid_address(text, "a port is a number from 1 to 65535");
  return Address{.host = std::string(host), .port = std::string(port)};
}

tl::expected<Socket, Error> Socket::connect(const Address& address,
                                            std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  if (!address.path.empty()) {
    Socket made(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (made.descriptor_ < 0) return unreachable(address, reason(errno));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.path.copy(name.sun_path, sizeof name.sun_path - 1);
    const auto error = connect_to(made.descriptor_, reinterpret_cast<const sockaddr*>(&name),
                                  sizeof name, deadline);
    if (error != 0) return unreachable(address, reason(error));
    return made;
  }

  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const auto error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list))
    return unreachable(address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  int error = ENOENT;
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
    Socket made(::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (made.descriptor_ < 0) {
      error = errno;
      continue;
    }
    error = connect_to(made.descriptor_, entry->ai_addr, entry->ai_addrlen, deadline);
    if (error != 0) continue;
    watch_over(made.descriptor_);
    return made;
  }
  return unreachable(address, reason(error));
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::ptrdiff_t Socket::send(std::string_view bytes) const {
  for (;;) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno != EINTR) return -errno;
  }
}

std::ptrdiff_t Socket::receive(std::span<char> bytes) const {
  for (;;) {
    const auto received = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (received >= 0) return received;
    if (errno != EINTR) return -errno;
  }
}

void Socket::shut_down() const { ::shutdown(descriptor_, SHUT_RDWR); }

}  // namespace turno::client

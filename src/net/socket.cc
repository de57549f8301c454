#include "net/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "net/credentials.h"

namespace turno::net {

namespace {

struct Resolved {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

Resolved resolved(const sockaddr* address, socklen_t size) {
  Resolved made{.size = size};
  std::memcpy(&made.storage, address, size);
  return made;
}

enum class Names : std::uint8_t { looked_up, refused };

// All that it may be, best first; of numbers it is one.
tl::expected<std::vector<Resolved>, Failure> resolve(const Address& address, Names names) {
  if (address.is_local()) {
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    address.path.copy(local.sun_path, longest_socket_path);
    return std::vector{resolved(reinterpret_cast<const sockaddr*>(&local), sizeof local)};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (names == Names::refused) hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const auto port = std::to_string(address.port);
  const int failed = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (failed == EAI_NONAME && names == Names::refused)
    return tl::unexpected(Failure("names are not looked up here, write numbers"));
  if (failed != 0) return tl::unexpected(Failure(::gai_strerror(failed)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> guard(found, ::freeaddrinfo);
  std::vector<Resolved> all;
  for (const auto* each = found; each != nullptr; each = each->ai_next)
    all.push_back(resolved(each->ai_addr, each->ai_addrlen));
  return all;
}

tl::expected<Resolved, Failure> resolve(std::string_view text, Names names) {
  const auto address = parse_address(text);
  if (!address) return tl::unexpected(address.error());
  auto all = resolve(*address, names);
  if (!all) return tl::unexpected("'" + std::string(text) + "': " + all.error());
  return all->front();
}

Failure failure(std::string_view what, std::string_view address, int error) {
  return "cannot " + std::string(what) + " " + std::string(address) + ": " + std::strerror(error);
}

Fd make_socket(int family) {
  return Fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void set(const Fd& socket, int level, int option, int value) {
  ::setsockopt(socket.get(), level, option, &value, sizeof value);
}

void prepare(const Fd& socket, int family) {
  if (family == AF_UNIX) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  // A machine that vanished without a word is noticed within half a minute.
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string text_of(Resolved& address) {
  if (address.family() == AF_UNIX)
    return "unix:" + std::string(reinterpret_cast<sockaddr_un*>(&address.storage)->sun_path);
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (::getnameinfo(address.get(), address.size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  const std::string name = host;
  return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port;
}

// A socket that one who was killed left behind: nobody listens. Other files are left alone.
void remove_abandoned(Resolved& address) {
  const auto* path = reinterpret_cast<sockaddr_un*>(&address.storage)->sun_path;
  struct stat found {};
  if (::lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  const auto caller = make_socket(AF_UNIX);
  if (::connect(caller.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED)
    ::unlink(path);
}

}  // namespace

void remove_abandoned_socket(std::string_view text) {
  auto address = resolve(text, Names::refused);
  if (!address || address->family() != AF_UNIX) return;
  struct stat found {};
  if (::lstat(reinterpret_cast<sockaddr_un*>(&address->storage)->sun_path, &found) != 0) return;
  // There is a moment between making a socket and listening on it.
  if (std::time(nullptr) - found.st_mtim.tv_sec < 2) return;
  remove_abandoned(*address);
}

tl::expected<Fd, Failure> listen(std::string_view text, mode_t mode) {
  auto address = resolve(text, Names::looked_up);
  if (!address) return tl::unexpected(address.error());
  auto socket = make_socket(address->family());
  if (!socket) return tl::unexpected(failure("listen on", text, errno));
  const bool local = address->family() == AF_UNIX;
  if (local) {
    remove_abandoned(*address);
    ::fchmod(socket.get(), S_IRUSR | S_IWUSR);  // so it is made; nobody comes in before chmod
  } else {
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  }
  if (::bind(socket.get(), address->get(), address->size) != 0)
    return tl::unexpected(failure("listen on", text, errno));
  const auto* path = reinterpret_cast<sockaddr_un*>(&address->storage)->sun_path;
  if ((local && ::chmod(path, mode) != 0) || ::listen(socket.get(), SOMAXCONN) != 0) {
    const int error = errno;
    if (local) ::unlink(path);
    return tl::unexpected(failure("listen on", text, error));
  }
  return socket;
}

namespace {

bool is_loopback(const Resolved& address) {
  if (address.family() == AF_UNIX) return true;
  if (address.family() == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr) >> 24 ==
           IN_LOOPBACKNET;
  const auto& wide = reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&wide) ||
         (IN6_IS_ADDR_V4MAPPED(&wide) && wide.s6_addr[12] == IN_LOOPBACKNET);
}

}  // namespace

tl::expected<bool, Failure> is_local(std::string_view text) {
  return resolve(text, Names::looked_up).map(is_loopback);
}

tl::expected<Fd, Failure> connect(std::string_view text) {
  auto address = resolve(text, Names::refused);
  if (!address) return tl::unexpected(address.error());
  auto socket = make_socket(address->family());
  if (!socket) return tl::unexpected(failure("connect to", text, errno));
  prepare(socket, address->family());
  if (::connect(socket.get(), address->get(), address->size) != 0 && errno != EINPROGRESS)
    return tl::unexpected(failure("connect to", text, errno));
  return socket;
}

namespace {

using Clock = std::chrono::steady_clock;

// Waits for a connection that is being made. 0, or the error's number.
int finish_connecting(const Fd& socket, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd ready{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    const auto count = ::poll(&ready, 1, static_cast<int>(std::min<long>(left, 3'600'000)));
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) return error_of(socket);
  }
}

// 0, or the error's number.
int connect_to(const Fd& socket, Resolved& address, Clock::time_point deadline) {
  if (::connect(socket.get(), address.get(), address.size) == 0) return 0;
  if (errno == EINPROGRESS || errno == EINTR) return finish_connecting(socket, deadline);
  return errno;
}

}  // namespace

tl::expected<Fd, Failure> connect_within(const Address& address, std::chrono::milliseconds time) {
  const auto deadline = Clock::now() + time;
  auto all = resolve(address, Names::looked_up);
  if (!all) return tl::unexpected(all.error());
  int error = ENOENT;
  for (auto& each : *all) {
    auto socket = make_socket(each.family());
    error = socket ? connect_to(socket, each, deadline) : errno;
    if (error != 0) continue;
    prepare(socket, each.family());
    // So long a node may leave what was sent to it unacknowledged.
    if (each.family() != AF_UNIX) set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
    return socket;
  }
  return tl::unexpected(std::generic_category().message(error));
}

Fd accept(const Fd& listener) {
  Resolved address;
  address.size = sizeof address.storage;
  Fd socket(::accept4(listener.get(), address.get(), &address.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) prepare(socket, address.family());
  return socket;
}

std::string address_of(const Fd& socket) {
  Resolved address;
  address.size = sizeof address.storage;
  if (::getsockname(socket.get(), address.get(), &address.size) != 0) return "no address";
  return text_of(address);
}

std::string peer_of(const Fd& socket) {
  Resolved address;
  address.size = sizeof address.storage;
  if (::getpeername(socket.get(), address.get(), &address.size) != 0) return "no address";
  if (address.family() == AF_UNIX)
    if (const auto peer = credentials_of(socket)) return "unix:" + peer->text();
  return text_of(address);
}

int error_of(const Fd& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace turno::net

#include "net/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>

namespace turno::net {

namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

tl::expected<Address, Failure> unix_address(std::string_view path) {
  Address address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (path.size() >= sizeof local->sun_path)
    return tl::unexpected("the socket path " + std::string(path) + " is too long: at most " +
                          std::to_string(sizeof local->sun_path - 1) + " bytes");
  local->sun_family = AF_UNIX;
  std::memcpy(local->sun_path, path.data(), path.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

enum class Names : std::uint8_t { looked_up, refused };

tl::expected<Address, Failure> resolve(std::string_view text, Names names) {
  if (text.starts_with("unix:")) return unix_address(text.substr(5));
  if (text.find('/') != std::string_view::npos) return unix_address(text);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return tl::unexpected("'" + std::string(text) +
                          "' is no address: write host:port or unix:/path");
  std::string host(text.substr(0, colon));
  const std::string port(text.substr(colon + 1));
  // The system's functions would take the number modulo 65536, or none for 0.
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number > 65535)
    return tl::unexpected("'" + std::string(text) + "': a port is a number from 0 to 65535");
  if (host.empty()) host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (names == Names::refused) hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed == EAI_NONAME && names == Names::refused)
    return tl::unexpected("'" + std::string(text) +
                          "': names are not looked up here, write numbers");
  if (failed != 0) return tl::unexpected("'" + std::string(text) + "': " + ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> guard(found, ::freeaddrinfo);
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
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
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string text_of(Address& address) {
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
void remove_abandoned(Address& address) {
  const auto* path = reinterpret_cast<sockaddr_un*>(&address.storage)->sun_path;
  struct stat found {};
  if (::lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  const auto caller = make_socket(AF_UNIX);
  if (::connect(caller.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED)
    ::unlink(path);
}

}  // namespace

tl::expected<Fd, Failure> listen(std::string_view text) {
  auto address = resolve(text, Names::looked_up);
  if (!address) return tl::unexpected(address.error());
  auto socket = make_socket(address->family());
  if (!socket) return tl::unexpected(failure("listen on", text, errno));
  if (address->family() == AF_UNIX) {
    remove_abandoned(*address);
  } else {
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  }
  if (::bind(socket.get(), address->get(), address->size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return tl::unexpected(failure("listen on", text, errno));
  return socket;
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

Fd accept(const Fd& listener) {
  Address address;
  address.size = sizeof address.storage;
  Fd socket(::accept4(listener.get(), address.get(), &address.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) prepare(socket, address.family());
  return socket;
}

std::string address_of(const Fd& socket) {
  Address address;
  address.size = sizeof address.storage;
  if (::getsockname(socket.get(), address.get(), &address.size) != 0) return "no address";
  return text_of(address);
}

std::string peer_of(const Fd& socket) {
  Address address;
  address.size = sizeof address.storage;
  if (::getpeername(socket.get(), address.get(), &address.size) != 0) return "no address";
  return text_of(address);
}

int error_of(const Fd& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace turno::net

#include "net/address.h"

#include <sys/un.h>

#include <charconv>

namespace turno::net {

namespace {

static_assert(sizeof(sockaddr_un::sun_path) == longest_socket_path + 1);

tl::unexpected<Failure> refusal(std::string_view text, std::string_view why) {
  return tl::unexpected("'" + std::string(text) + "' is no address: " + std::string(why) +
                        "; write HOST:PORT or unix:PATH");
}

}  // namespace

std::string Address::text() const {
  if (is_local()) return "unix:" + path;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

tl::expected<Address, Failure> parse_address(std::string_view text) {
  constexpr std::string_view scheme = "unix:";
  const bool has_scheme = text.starts_with(scheme);
  if (has_scheme || text.find('/') != std::string_view::npos) {
    const auto path = has_scheme ? text.substr(scheme.size()) : text;
    if (path.empty()) return refusal(text, "it has no path");
    if (path.find('\0') != std::string_view::npos) return refusal(text, "it holds a zero");
    if (path.size() > longest_socket_path)
      return refusal(text, "the path of a socket has at most 107 bytes");
    return Address{.path = std::string(path)};
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refusal(text, "it has no port");
  auto host = text.substr(0, colon);
  const auto port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return refusal(text, "an IPv6 address stands in brackets");
  }
  // The system's functions would take the number modulo 65536.
  Address address{.host = std::string(host.empty() ? "127.0.0.1" : host)};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size())
    return refusal(text, "a port is a number from 0 to 65535");
  return address;
}

}  // namespace turno::net

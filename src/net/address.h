// Where somebody listens, as text: "host:port", "[ipv6]:port", ":port" (this machine), "unix:/path"
// or a path with a slash in it. The only place that reads such texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace turno::net {

// In words, for people: "cannot listen on 127.0.0.1:80: Permission denied".
using Failure = std::string;

struct Address {
  std::string path;  // of a Unix socket, or empty
  std::string host;  // of TCP
  std::uint16_t port = 0;

  [[nodiscard]] bool is_local() const { return !path.empty(); }
  [[nodiscard]] std::string text() const;
  bool operator==(const Address&) const = default;
};

inline constexpr std::size_t longest_socket_path = 107;

tl::expected<Address, Failure> parse_address(std::string_view text);

}  // namespace turno::net

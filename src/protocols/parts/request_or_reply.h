// The message of those who ask everybody and wait for answers: a request, or the answer to one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace turno::protocols {

struct RequestOrReply {
  enum class Kind : std::uint8_t { request, reply } kind = Kind::request;
  std::uint64_t time = 0;  // of the request, by the clock of who asks
  static constexpr std::array<std::string_view, 2> kinds = {"request", "reply"};
  static constexpr std::array<std::string_view, 2> labels = {"kind", "time"};
  [[nodiscard]] auto fields() const { return std::tie(kind, time); }
  bool operator==(const RequestOrReply&) const = default;
};

}  // namespace turno::protocols

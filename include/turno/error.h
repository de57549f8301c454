// What went wrong, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace turno {

struct Error {
  enum class Code : std::uint8_t {
    timeout,       // not acquired in time
    cancelled,     // the stop token was requested
    lost,          // it was held, and no longer is
    disconnected,  // the connection broke while waiting, and no other node was found
    refused,       // the node does not want to
    invalid,       // the request makes no sense
    unavailable,   // no node can be reached, or it is not ready
    internal,      // a defect of Turno
    deadlock,      // the wait was part of a deadlock, or could have become one; what is held stays
  };

  Code code = Code::internal;
  std::string message;  // what happened, who holds if that is known, what to do next
  // The lock was perhaps taken for a moment: the answer did not arrive. It is given back as soon as
  // the node and this program hear of each other, or are parted. False: surely not taken.
  bool perhaps_taken = false;
};

[[nodiscard]] constexpr std::string_view to_string(Error::Code code) {
  switch (code) {
    case Error::Code::timeout:
      return "timeout";
    case Error::Code::cancelled:
      return "cancelled";
    case Error::Code::lost:
      return "lost";
    case Error::Code::disconnected:
      return "disconnected";
    case Error::Code::refused:
      return "refused";
    case Error::Code::invalid:
      return "invalid";
    case Error::Code::unavailable:
      return "unavailable";
    case Error::Code::deadlock:
      return "deadlock";
    case Error::Code::internal:
      break;
  }
  return "internal";
}

// The nearest standard error, for those who work with exceptions.
[[nodiscard]] inline std::error_code to_error_code(Error::Code code) {
  switch (code) {
    case Error::Code::timeout:
      return std::make_error_code(std::errc::timed_out);
    case Error::Code::cancelled:
      return std::make_error_code(std::errc::operation_canceled);
    case Error::Code::lost:
      return std::make_error_code(std::errc::owner_dead);
    case Error::Code::disconnected:
      return std::make_error_code(std::errc::connection_reset);
    case Error::Code::refused:
      return std::make_error_code(std::errc::operation_not_permitted);
    case Error::Code::invalid:
      return std::make_error_code(std::errc::invalid_argument);
    case Error::Code::unavailable:
      return std::make_error_code(std::errc::not_connected);
    case Error::Code::deadlock:
      return std::make_error_code(std::errc::resource_deadlock_would_occur);
    case Error::Code::internal:
      break;
  }
  return std::make_error_code(std::errc::state_not_recoverable);
}

}  // namespace turno

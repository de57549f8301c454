// The pairs of a map in a reply.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/resp.h"

namespace turno::port {

struct Pairs {
  wire::ReplyWriter& out;
  void text(std::string_view key, std::string_view value) {
    out.bulk(key);
    out.bulk(value);
  }
  void integer(std::string_view key, std::uint64_t value) {
    out.bulk(key);
    out.integer(static_cast<std::int64_t>(value));
  }
  void fence(std::string_view key, std::uint64_t value) {
    out.bulk(key);
    out.fence(value);
  }
  void boolean(std::string_view key, bool value) {
    out.bulk(key);
    out.boolean(value);
  }
};

}  // namespace turno::port

// Base64 as RFC 4648 has it, with padding: how etcd's JSON gateway writes keys and values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace turno::registry {

[[nodiscard]] std::string to_base64(std::string_view bytes);
// Nothing: it is none.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace turno::registry

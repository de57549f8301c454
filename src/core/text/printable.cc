#include "core/text/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace turno {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Characters that turn the direction of a line, join or hide others, or end it: what is seen would
// not be what is there. REQUIRES: one well-formed character.
bool is_invisible(std::string_view character) {
  constexpr std::array<unsigned char, 5> lead_bits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = static_cast<unsigned char>(character.front()) & lead_bits[character.size()];
  for (const char c : character.substr(1))
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return code == 0xAD || code == 0x61C || code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

// Bytes of the printable character with which the text begins, or 0.
std::size_t printable_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xC2 && first < 0xE0   ? 2
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
  if (size == 0 || text.size() < size) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size), continues))
    return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool control = (first == 0xC2 && second < 0xA0) || is_invisible(text.substr(0, size));
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return control || overlong || outside ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto size = printable_size(text);
    if (size > 0) {
      result += text.substr(0, size);
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text.front());
      result += {'\\', 'x', digits[byte >> 4U], digits[byte & 0xFU]};
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

}  // namespace turno

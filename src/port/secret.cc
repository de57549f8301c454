#include "port/secret.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace turno::port {

std::string random_secret() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::system_category(), "no random numbers");
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool same_secret(std::string_view given, std::string_view known) {
  if (given.size() != known.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < known.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(known[i]);
  return difference == 0;
}

}  // namespace turno::port

#include "cli/node_address.h"

#include <cstdlib>

namespace turno::cli {

namespace {

// The place to look into the registry in that directory.
tl::expected<std::string, Error> node_in(const std::string& directory) {
  return tl::unexpected(Error{
      Error::Code::unavailable,
      "no node to talk to" + (directory.empty() ? "" : " in " + directory) +
          "; say which with --node HOST:PORT or --node unix:PATH, or set TURNO_NODE_ADDRESS"});
}

}  // namespace

tl::expected<std::string, Error> node_address(const std::string& node_option,
                                              const std::string& directory) {
  if (!node_option.empty()) return node_option;
  if (const auto* address = std::getenv("TURNO_NODE_ADDRESS");
      address != nullptr && *address != '\0')
    return address;
  return node_in(directory);
}

}  // namespace turno::cli

#include "cli/cluster/node_address.h"

#include <cstdlib>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/local_members.h"
#include "cli/frame/readable.h"

namespace turno::cli {

namespace {

std::string environment(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

tl::expected<std::vector<std::string>, Error> nodes_in(const std::string& asked) {
  const auto directory = cluster_directory(asked);
  const auto view = live_members(directory);
  if (!view) return tl::unexpected(view.error());
  std::vector<std::string> addresses;
  for (const auto& member : view->members)
    if (!client_address(member).empty()) addresses.push_back(client_address(member));
  if (!addresses.empty()) return addresses;
  return tl::unexpected(
      Error{Error::Code::unavailable,
            "no node runs in " + directory.string() + "; start one: " + program() + " up" +
                (asked.empty() ? "" : " --dir " + shell_word(directory.native())) +
                "; or say where one is: --node HOST:PORT, --node unix:PATH, TURNO_NODE_ADDRESS"});
}

}  // namespace

tl::expected<std::vector<std::string>, Error> node_addresses(const std::string& node_option,
                                                             const std::string& directory) {
  if (!node_option.empty()) return std::vector{node_option};
  // A directory that was asked for on the command line is more than what the environment says.
  const bool asked = !directory.empty() && directory != environment("TURNO_DIR");
  if (const auto address = environment("TURNO_NODE_ADDRESS"); !asked && !address.empty())
    return std::vector{address};
  return nodes_in(directory);
}

tl::expected<std::string, Error> node_address(const std::string& node_option,
                                              const std::string& directory) {
  return node_addresses(node_option, directory).map([](const auto& all) { return all.front(); });
}

}  // namespace turno::cli

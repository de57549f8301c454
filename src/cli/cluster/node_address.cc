#include "cli/cluster/node_address.h"

#include <cstdlib>
#include <sstream>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/local_members.h"
#include "cli/frame/readable.h"

namespace turno::cli {

namespace {

std::string environment(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Between commas, without spaces around.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    std::erase(word, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
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

tl::expected<std::vector<std::string>, Error> node_addresses(
    const std::vector<std::string>& node_options, const std::string& directory) {
  if (!node_options.empty()) return node_options;
  if (directory.empty())
    if (auto addresses = words_of(environment("TURNO_NODE_ADDRESS")); !addresses.empty())
      return addresses;
  return nodes_in(directory);
}

}  // namespace turno::cli

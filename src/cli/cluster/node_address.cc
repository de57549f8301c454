#include "cli/cluster/node_address.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/local_members.h"
#include "cli/frame/readable.h"
#include "registry/embedded/safe_directory.h"

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

bool is_own(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid();
}

// Which nodes there are is in the registry. Who may not read it, as a member of the group of a
// system-wide cluster, sees their sockets.
tl::expected<std::vector<std::string>, Error> nodes_in(const std::string& asked) {
  const auto place = cluster_place({.directory = asked});
  const auto view = live_members(place.state);
  std::vector<std::string> addresses;
  if (view)
    for (const auto& member : view->members)
      if (!client_address(member).empty()) addresses.push_back(client_address(member));
  if (!addresses.empty()) return addresses;
  // Nobody but its owner may have put sockets into the user's own.
  if (const bool own = place == own_place();
      !own || registry::check_directory(place.runtime).has_value()) {
    auto sockets = listening_sockets(place.runtime);
    if (!sockets || !sockets->empty()) return sockets;
  }
  if (!view && !place.system) {
    auto error = view.error();
    if (!is_own(place.state))
      error.message += "; " + program() + " up --system makes a cluster for several users";
    return tl::unexpected(std::move(error));
  }
  return tl::unexpected(
      Error{Error::Code::unavailable,
            "no node runs in " + place.runtime.string() + "; start one: " + program() + " up" +
                (place.system    ? " --system"
                 : asked.empty() ? ""
                                 : " --dir " + shell_word(place.runtime.native())) +
                "; or say where one is: --node HOST:PORT, --node unix:PATH, TURNO_NODE_ADDRESS" +
                closed_system_hint()});
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

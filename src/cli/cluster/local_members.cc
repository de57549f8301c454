#include "cli/cluster/local_members.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "net/socket.h"
#include "registry/embedded/embedded_registry.h"

namespace turno::cli {

tl::expected<cluster::View, Error> live_members(const std::filesystem::path& directory) {
  registry::EmbeddedRegistry registry(directory);
  auto view = registry.current();
  if (!view && view.error().kind == registry::Error::Kind::absent) return cluster::View{};
  if (!view) return tl::unexpected(Error{Error::Code::unavailable, view.error().message});
  std::erase_if(view->members, [&](const auto& member) { return registry.is_dead(member.id); });
  return std::move(*view);
}

tl::expected<std::vector<std::string>, Error> listening_sockets(
    const std::filesystem::path& directory) {
  constexpr std::chrono::milliseconds moment{200};  // a node that is stopped accepts, too
  std::vector<std::string> paths;
  std::string closed;
  std::error_code error;
  for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() != ".sock" || !file->is_socket(error)) continue;
    if (::access(file->path().c_str(), W_OK) != 0) {
      closed = file->path();
    } else if (net::connect_within({.path = file->path()}, moment)) {
      paths.push_back(file->path());
    }
  }
  if (paths.empty() && !closed.empty())
    return tl::unexpected(Error{Error::Code::unavailable,
                                closed + ": this user may not connect to it; only its owner and "
                                         "its group may (ls -l)"});
  std::sort(paths.begin(), paths.end());
  return paths;
}

const std::string& client_address(const cluster::Member& member) {
  return member.client_socket.empty() ? member.client_address : member.client_socket;
}

}  // namespace turno::cli

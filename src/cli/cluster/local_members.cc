#include "cli/cluster/local_members.h"

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

const std::string& client_address(const cluster::Member& member) {
  return member.client_socket.empty() ? member.client_address : member.client_socket;
}

}  // namespace turno::cli

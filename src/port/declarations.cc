#include "port/declarations.h"

#include "cluster/note.h"

namespace turno::port {

std::string Declarations::wrong_with(std::string_view name) {
  if (name.empty()) return "a name is not empty";
  if (name.size() > cluster::longest_name)
    return "a name has at most " + std::to_string(cluster::longest_name) + " bytes";
  const auto star = name.find('*');
  if (star != std::string_view::npos && star + 1 != name.size())
    return "a * stands at the end of a name, for whatever follows";
  return {};
}

template <class Declaration>
const Declaration* Declarations::find(const ByName<Declaration>& all, std::string_view name) {
  if (const auto exact = all.find(name); exact != all.end()) return &exact->second;
  for (auto size = name.size() + 1; size-- > 0;) {
    const auto prefix = all.find(std::string(name.substr(0, size)) + "*");
    if (prefix != all.end()) return &prefix->second;
  }
  return nullptr;
}

const SemaphoreDeclaration* Declarations::semaphore(std::string_view name) const {
  return find(semaphores_, name);
}
const ResourceDeclaration* Declarations::resource(std::string_view name) const {
  return find(resources_, name);
}

}  // namespace turno::port

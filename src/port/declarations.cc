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

const SemaphoreDeclaration* Declarations::semaphore(std::string_view name) const {
  if (const auto exact = semaphores_.find(name); exact != semaphores_.end()) return &exact->second;
  for (auto size = name.size() + 1; size-- > 0;) {
    const auto prefix = semaphores_.find(std::string(name.substr(0, size)) + "*");
    if (prefix != semaphores_.end()) return &prefix->second;
  }
  return nullptr;
}

}  // namespace turno::port

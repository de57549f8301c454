#include "port/declarations.h"

#include <algorithm>

#include "cluster/note.h"

namespace turno::port {

std::optional<DeadlockPolicy> policy_named(std::string_view name) {
  const auto found = std::ranges::find(deadlock_policies, name);
  if (found == deadlock_policies.end()) return {};
  return static_cast<DeadlockPolicy>(found - deadlock_policies.begin());
}

std::string Declarations::wrong_with(std::string_view name) {
  if (name.empty()) return "a name is not empty";
  if (name.size() > cluster::longest_name)
    return "a name has at most " + std::to_string(cluster::longest_name) + " bytes";
  const auto star = name.find('*');
  if (star != std::string_view::npos && star + 1 != name.size())
    return "a * stands at the end of a name, for whatever follows";
  return {};
}

}  // namespace turno::port

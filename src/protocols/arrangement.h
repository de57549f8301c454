// How the members of a view arrange themselves for one lock: a star around its home, and quorums if
// the algorithm votes.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "core/protocol.h"
#include "protocols/parts/quorum/constructions.h"

namespace turno::protocols {

inline Setup arrangement(const Info& info, std::uint32_t epoch, std::size_t members, NodeId home) {
  Setup setup;
  setup.father.assign(members, home);
  if (info.voting) setup.quorums = quorums(QuorumConstruction::cyclic, members);
  setup.epoch = epoch;
  return setup;
}

// Of participants that are not the members themselves: the managers of a room's groups.
inline Quorums quorums_of(std::size_t voters) {
  return voters == 0 ? Quorums{} : quorums(QuorumConstruction::cyclic, voters);
}

// The same with its memory: each arrangement is made once.
inline auto arrangements(const Info& info) {
  using Key = std::tuple<std::uint32_t, std::size_t, NodeId>;
  return [&info, made = std::make_shared<std::map<Key, Setup>>()](
             std::uint32_t epoch, std::size_t members, NodeId home) -> const Setup& {
    const Key key{epoch, members, home};
    const auto found = made->find(key);
    if (found != made->end()) return found->second;
    return made->emplace(key, arrangement(info, epoch, members, home)).first->second;
  };
}

}  // namespace turno::protocols

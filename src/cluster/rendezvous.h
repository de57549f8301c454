// The home of a lock: the member with the highest weight, a hash of the lock's name and the
// member's id (rendezvous hashing). When a member leaves, only its own locks move.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "cluster/view.h"
#include "core/fields.h"
#include "core/node_id.h"

namespace turno::cluster {

// The same on every machine: nodes that disagree about a home would never meet.
[[nodiscard]] inline std::uint64_t hash_of_name(std::string_view name) {
  Digest digest;
  const auto add = [&digest](std::uint64_t word) {
    digest.add(std::endian::native == std::endian::little ? word : __builtin_bswap64(word));
  };
  digest.add(name.size());  // with it, "a" and "a\0" differ
  for (; name.size() >= 8; name.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data(), 8);
    add(word);
  }
  if (!name.empty()) {
    std::uint64_t rest = 0;
    std::memcpy(&rest, name.data(), name.size());
    add(rest);
  }
  return digest.value();
}

[[nodiscard]] inline std::uint64_t rendezvous_weight(std::uint64_t name_hash, std::uint64_t id) {
  Digest digest(name_hash);
  digest.add(id);
  return digest.value();
}

// The position of the highest weight among `count` ids, or nobody if there are none. Equal weights:
// the larger id, so that the order of the members does not matter.
template <class IdAt>
[[nodiscard]] NodeId highest_weight(std::uint64_t name_hash, std::size_t count, const IdAt& id_at) {
  NodeId home;
  std::uint64_t highest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto weight = rendezvous_weight(name_hash, id_at(i));
    if (home != nobody && weight < highest) continue;
    if (home != nobody && weight == highest && id_at(i) < id_at(home.index())) continue;
    home = NodeId(i);
    highest = weight;
  }
  return home;
}

[[nodiscard]] inline NodeId home_of(std::string_view lock, const View& view) {
  return highest_weight(hash_of_name(lock), view.members.size(),
                        [&](std::size_t i) { return view.members[i].id; });
}

// The homes of many locks in one view: the ids side by side.
class Rendezvous {
 public:
  Rendezvous() = default;
  explicit Rendezvous(const View& view) {
    ids_.reserve(view.members.size());
    for (const auto& member : view.members) ids_.push_back(member.id);
  }

  [[nodiscard]] NodeId home_of(std::uint64_t name_hash) const {
    return highest_weight(name_hash, ids_.size(), [&](std::size_t i) { return ids_[i]; });
  }
  [[nodiscard]] NodeId home_of(std::string_view lock) const { return home_of(hash_of_name(lock)); }
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const { return ids_; }

 private:
  std::vector<std::uint64_t> ids_;
};

}  // namespace turno::cluster

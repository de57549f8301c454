// The tokens of resource instances: who has the token may use the instance. A token carries the
// fence of its last use, and is always in exactly one place.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/assert.h"
#include "core/demand.h"
#include "core/fence.h"
#include "core/holding.h"
#include "core/node_id.h"
#include "core/setup.h"
#include "protocols/allocation/needs.h"

namespace turno::protocols {

struct Token {
  std::uint32_t instance = 0;
  Fence fence;
  bool operator==(const Token&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(instance, fence); }
};

using Instances = boost::container::small_vector<std::uint32_t, 2>;  // sorted

// Some tokens, by the number of their instance.
class Tokens {
 public:
  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  [[nodiscard]] auto begin() const { return tokens_.begin(); }
  [[nodiscard]] auto end() const { return tokens_.end(); }
  [[nodiscard]] const Token& operator[](std::size_t i) const { return tokens_[i]; }
  [[nodiscard]] bool contains(std::uint32_t instance) const {
    const auto at = find(instance);
    return at != tokens_.end() && at->instance == instance;
  }
  void add(const Token& token) {
    tokens_.insert(std::upper_bound(tokens_.begin(), tokens_.end(), token, before), token);
  }
  void push_back(const Token& token) { add(token); }  // as containers do, for decoding
  void add(const Tokens& others) {
    for (const auto& token : others) add(token);
  }
  // REQUIRES: contains(instance)
  Token take(std::uint32_t instance) {
    const auto at = find(instance);
    TURNO_ASSERT(at != tokens_.end() && at->instance == instance);
    const auto token = *at;
    tokens_.erase(at);
    return token;
  }
  void clear() { tokens_.clear(); }
  // Each is used once more.
  void use() {
    for (auto& token : tokens_) token.fence = token.fence.next();
  }
  [[nodiscard]] std::uint16_t count(const ResourceSetup& resources, std::size_t type) const {
    return static_cast<std::uint16_t>(
        std::count_if(tokens_.begin(), tokens_.end(),
                      [&](const Token& t) { return resources.type_of[t.instance] == type; }));
  }
  // Are there enough of every type?
  [[nodiscard]] bool cover(const ResourceSetup& resources, const Needs& needs) const {
    for (std::size_t type = 0; type < needs.types(); ++type)
      if (count(resources, type) < needs.of(type)) return false;
    return true;
  }
  // As a grant tells them.
  [[nodiscard]] boost::container::small_vector<Unit, 4> units() const {
    boost::container::small_vector<Unit, 4> all;
    for (const auto& token : tokens_) all.push_back({token.instance, token.fence});
    return all;
  }
  bool operator==(const Tokens&) const = default;

 private:
  static bool before(const Token& a, const Token& b) { return a.instance < b.instance; }
  [[nodiscard]] boost::container::small_vector<Token, 2>::const_iterator find(
      std::uint32_t instance) const {
    return std::lower_bound(tokens_.begin(), tokens_.end(), Token{instance, {}}, before);
  }
  boost::container::small_vector<Token, 2> tokens_;
};

// Where the token of one instance is or will be, as the control token knows it: with the last who
// asked for it, or free, and then it is the control token that has it.
struct Place {
  NodeId holder;  // nobody: free
  Fence fence;    // of its last use, while it is free
  bool operator==(const Place&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(holder, fence); }
};
using Table = boost::container::small_vector<Place, 4>;

// The tokens of what a seat holds when the algorithm begins.
inline Tokens tokens_of(const Setup& setup, const Holding& holding) {
  Tokens tokens;
  for (auto instance : holding.units) tokens.add(Token{instance, Fence::at(setup.epoch)});
  return tokens;
}

// What a peer says of instances, types and nodes that there are not is none of its algorithm's.
inline bool exist(const Setup& setup, const Tokens& tokens) {
  return tokens.empty() || tokens[tokens.size() - 1].instance < setup.resources.type_of.size();
}
inline bool exist(const Setup& setup, const Instances& instances) {
  return std::all_of(instances.begin(), instances.end(), [&](std::uint32_t instance) {
    return instance < setup.resources.type_of.size();
  });
}
inline bool exist(const Setup& setup, const Needs& needs) {
  const auto& type_of = setup.resources.type_of;
  for (std::size_t type = 0; type < needs.types(); ++type)
    if (needs.of(type) > std::count(type_of.begin(), type_of.end(), type)) return false;
  return true;
}
inline bool exists(const Setup& setup, NodeId node) {
  return node == nobody || node.index() < setup.size();
}

inline Table all_free(const Setup& setup) {
  return Table(setup.resources.type_of.size(),
               Place{.holder = nobody, .fence = Fence::at(setup.epoch)});
}

}  // namespace turno::protocols

// What travels between processes and brokers in `brokered`.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "core/fence.h"
#include "core/node_id.h"
#include "protocols/allocation/chains.h"
#include "protocols/allocation/needs.h"
#include "protocols/parts/site_queue/site_queue.h"

namespace turno::protocols::brokerage {

// One use of one instance.
struct Tenure {
  std::uint32_t instance = 0, number = 0;
  bool operator==(const Tenure&) const = default;
  auto operator<=>(const Tenure&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(instance, number); }
};
// The token that belongs to it.
struct Held {
  Tenure tenure{};
  Fence fence;
  bool locked = false;
  bool operator==(const Held&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(tenure, fence, locked); }
};
// After this tenure, the holder gives the token to somebody.
struct Successor {
  Tenure tenure{};
  NodeId holder, to;
  bool operator==(const Successor&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(tenure, holder, to); }
};
struct Waiting {
  NodeId node;
  Needs needs;
  std::uint32_t overtaken = 0;
  std::uint64_t since = 0;
  bool operator==(const Waiting&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(node, needs, overtaken, since); }
};
template <class T>
using Some = boost::container::small_vector<T, 2>;

struct Message {
  enum class Kind : std::uint8_t { request, ask, control, plan, inquiry, tokens };
  Kind kind = Kind::request;
  Needs needs;                   // request
  SiteQueue::Ask ask{};          // ask: for the control token
  SiteQueue::Baggage baggage{};  // control: always empty, as brokers have no neighbours
  Chains chains;                 // control
  Some<Tenure> kept, awaited;    // plan
  Some<Held> held;               // plan: enclosed; tokens
  Some<Successor> successors;    // inquiry
  static constexpr std::array<std::string_view, 6> kinds = {"request", "ask",     "control",
                                                            "plan",    "inquiry", "tokens"};
  static constexpr std::array<std::string_view, 9> labels = {
      "kind", "needs", "of", "carrying", "chains", "kept", "awaited", "tokens", "successors"};
  [[nodiscard]] auto fields() const {
    return std::tie(kind, needs, ask, baggage, chains, kept, awaited, held, successors);
  }
  bool operator==(const Message&) const = default;
};

}  // namespace turno::protocols::brokerage

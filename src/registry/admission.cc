#include "registry/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace turno::registry {

namespace {

constexpr std::size_t longest_name = 128;  // of an algorithm
constexpr std::size_t longest_address = 1024;

tl::unexpected<Error> refusal(std::string message) {
  return tl::unexpected(Error{Error::Kind::refused, std::move(message)});
}

bool fits(std::string_view text, std::size_t longest) {
  return text.size() <= longest &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

Expected<void> check_candidate(const Member& candidate, const Settings& wanted) {
  if (candidate.id == 0 || candidate.id >> 63 != 0) {
    return refusal("the id of a member is a number from 1 to 2^63-1");
  }
  if (const auto wrong = cluster::wrong_with_name(candidate.name); !wrong.empty()) {
    return refusal(wrong);
  }
  for (const auto* address : {&candidate.peer_address, &candidate.client_address,
                              &candidate.client_socket, &candidate.http_address}) {
    if (fits(*address, longest_address)) continue;
    return refusal(fmt::format(
        "an address of a node has at most {} bytes and no control characters", longest_address));
  }
  for (const auto* name : {&wanted.algorithm, &wanted.fallback_algorithm, &wanted.allocator,
                           &wanted.fallback_allocator}) {
    if (fits(*name, longest_name)) continue;
    return refusal(fmt::format(
        "the name of an algorithm has at most {} bytes and no control characters", longest_name));
  }
  if (wanted.lock_delay_ms < 0 || wanted.idle_ms < 0) {
    return refusal("the lock delay and the idle time cannot be negative");
  }
  return {};
}

Expected<void> admit(const Member& candidate, const Settings& wanted, View& view) {
  if (const auto* other = view.find(candidate.name)) {
    return refusal(
        fmt::format("a node named '{}' already runs in this cluster (pid {}): choose another name, "
                    "or stop that one",
                    candidate.name, other->pid));
  }
  if (view.find(candidate.id) != nullptr) {
    return refusal(fmt::format("the id {} belongs to another member", candidate.id));
  }
  if (view.size() >= cluster::most_members) {
    return refusal(fmt::format("a cluster has at most {} members", cluster::most_members));
  }
  if (view.members.empty()) {
    view.algorithm = wanted.algorithm.empty() ? wanted.fallback_algorithm : wanted.algorithm;
    if (view.algorithm.empty()) return refusal("the first node of a cluster names its algorithm");
    view.allocator = wanted.allocator.empty() ? wanted.fallback_allocator : wanted.allocator;
    view.wire = wanted.wire;
    view.key = cluster::random_id();
    view.lock_delay_ms = wanted.lock_delay_ms;
    view.idle_ms = wanted.idle_ms;
  } else if (!wanted.algorithm.empty() && wanted.algorithm != view.algorithm) {
    return refusal(fmt::format(
        "this cluster runs '{}', not '{}': leave the algorithm out, or stop all its nodes first",
        view.algorithm, wanted.algorithm));
  } else if (!wanted.allocator.empty() && wanted.allocator != view.allocator) {
    return refusal(
        fmt::format("this cluster reserves by '{}', not '{}': leave the allocator out, or "
                    "stop all its nodes first",
                    view.allocator, wanted.allocator));
  }
  if (wanted.wire != view.wire) {
    return refusal(fmt::format(
        "the nodes of this cluster speak version {} with each other, and this one version {}: "
        "start it with the same program as the others, or stop all of them first",
        view.wire, wanted.wire));
  }
  view.members.push_back(candidate);
  return {};
}

}  // namespace turno::registry

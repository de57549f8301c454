#include "client/addresses.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

namespace turno::client {

namespace {

bool has(std::span<const Addresses::Known> all, const net::Address& address) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& known) { return known.address == address; });
}

std::optional<net::Address> address_for(const Member& member, const net::Address& source) {
  if (source.is_local() && !member.client_socket.empty())
    if (auto socket = net::parse_address(member.client_socket);
        socket && socket->is_local() && ::access(socket->path.c_str(), F_OK) == 0)
      return std::move(*socket);
  auto address = net::parse_address(member.client_address);
  if (!address || address->is_local() || address->port == 0) return std::nullopt;
  return std::move(*address);
}

}  // namespace

std::vector<Member> members_from(const wire::Reply& reply) {
  std::vector<Member> members;
  if (reply.kind != wire::Reply::Kind::array) return members;
  for (const auto& each : reply.elements) {
    if (each.kind != wire::Reply::Kind::map) return {};
    auto& member = members.emplace_back();
    for (std::size_t at = 0; at + 1 < each.elements.size(); at += 2) {
      const auto& key = each.elements[at].text;
      const auto& value = each.elements[at + 1];
      if (key == "id") member.id = static_cast<std::uint64_t>(value.integer);
      if (key == "name") member.name = value.text;
      if (key == "client") member.client_address = value.text;
      if (key == "socket") member.client_socket = value.text;
    }
  }
  return members;
}

Addresses::Addresses(const std::vector<net::Address>& given, std::uint64_t seed)
    : random_(static_cast<std::minstd_rand::result_type>(seed)) {
  for (const auto& address : given)
    if (!has(all_, address)) all_.push_back({.address = address, .given = true});
  std::shuffle(all_.begin(), all_.end(), random_);
}

bool Addresses::add(const net::Address& address) {
  if (has(all_, address)) return false;
  all_.insert(all_.begin(), {.address = address, .given = true});
  return true;
}

void Addresses::learn(std::span<const Member> members, const net::Address& source) {
  if (members.empty()) return;
  std::vector<Known> found;
  ids_.clear();
  for (const auto& member : members) {
    ids_.push_back(member.id);
    if (const auto address = address_for(member, source))
      if (!has(found, *address)) found.push_back({.address = *address});
  }
  // Members that have gone are forgotten; those that stay keep their place in the order.
  std::erase_if(all_,
                [&](const Known& known) { return !known.given && !has(found, known.address); });
  for (auto& known : found) {
    if (has(all_, known.address)) continue;
    const auto at = static_cast<std::ptrdiff_t>(random_() % (all_.size() + 1));
    all_.insert(all_.begin() + at, std::move(known));
  }
}

void Addresses::postpone(const net::Address& address) {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const Known& known) { return known.address == address; });
  if (found != all_.end()) std::rotate(found, found + 1, all_.end());
}

bool Addresses::same_cluster(std::span<const Member> members) const {
  return std::any_of(members.begin(), members.end(), [&](const Member& member) {
    return std::find(ids_.begin(), ids_.end(), member.id) != ids_.end();
  });
}

}  // namespace turno::client

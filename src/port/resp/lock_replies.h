// The replies to those who ask who holds and who waits. What is not known is said: docs/clients.md.
#pragma once

#include <string_view>

#include "port/host.h"
#include "wire/resp.h"

namespace turno::port {

// Pairs of a map.
struct Pairs {
  wire::ReplyWriter& out;
  void text(std::string_view key, std::string_view value) {
    out.bulk(key);
    out.bulk(value);
  }
  void integer(std::string_view key, std::uint64_t value) {
    out.bulk(key);
    out.integer(static_cast<std::int64_t>(value));
  }
  void fence(std::string_view key, std::uint64_t value) {
    out.bulk(key);
    out.fence(value);
  }
  void boolean(std::string_view key, bool value) {
    out.bulk(key);
    out.boolean(value);
  }
};

// All findings are of one name and one kind: see only().
void write_who(wire::ReplyWriter& out, std::string_view name, const Findings& findings);
void write_leader(wire::ReplyWriter& out, std::string_view name, const Findings& findings);
void write_waiters(wire::ReplyWriter& out, std::string_view name, const Findings& findings);
void write_locks(wire::ReplyWriter& out, std::string_view, const Findings& findings);
// Of each its number, and the fence, which all permits of a grant have.
void write_permits(wire::ReplyWriter& out, std::span<const std::uint32_t> permits, Fence fence);
// Of each its type, its number and its fence.
void write_resources(wire::ReplyWriter& out, std::span<const Resource> resources);
void write_members(wire::ReplyWriter& out, const Host& host);
// Only where clients find them.
void write_member_addresses(wire::ReplyWriter& out, const cluster::View& view);

}  // namespace turno::port

#include "port/resp/leases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "port/secret.h"

namespace turno::port {

namespace {

using namespace std::chrono_literals;

struct Id {
  std::uint64_t session, member;
};

// "s17-1a2b3c": session 17 of the member with this id.
std::optional<Id> parse_id(std::string_view text) {
  Id id{};
  if (!text.starts_with('s')) return {};
  const auto* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + 1, end, id.session);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != '-') return {};
  const auto member = std::from_chars(number.ptr + 1, end, id.member, 16);
  if (member.ec != std::errc() || member.ptr != end) return {};
  return id;
}

}  // namespace

std::chrono::milliseconds Leases::Lease::left() const {
  return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(used + ttl - Clock::now()));
}

void Leases::clear() {
  for (auto& [session, lease] : leases_) host_.loop().cancel(lease.timer);
  leases_.clear();
  opened_.clear();
}

std::string Leases::objection_to(const std::string& opener) const {
  if (leases_.size() >= most)
    return fmt::format("this node has too many open sessions: at most {}", most);
  const auto found = opened_.find(opener);
  if (leases_.size() < most - reserve || found == opened_.end() || found->second < few) return {};
  return fmt::format(
      "this node has {} open sessions, {} of them opened by {}: the last {} are for others",
      leases_.size(), found->second, opener, reserve);
}

Leases::Lease& Leases::open(Session& session, const std::string& opener,
                            std::chrono::milliseconds ttl) {
  ++opened_[opener];
  auto& lease = leases_
                    .try_emplace(session.id(), Lease{.session = session,
                                                     .opener = opener,
                                                     .id = id_of(session),
                                                     .secret = random_secret(),
                                                     .ttl = ttl,
                                                     .used = Clock::now(),
                                                     .timer = {}})
                    .first->second;
  watch(lease);
  return lease;
}

Leases::Lease* Leases::find(std::string_view id, std::string_view secret) {
  const auto parsed = parse_id(id);
  if (!parsed || parsed->member != host_.self().id) return nullptr;
  const auto found = leases_.find(parsed->session);
  const bool right = found != leases_.end() && same_secret(secret, found->second.secret);
  return right ? &found->second : nullptr;
}

void Leases::keep(Lease& lease, std::chrono::milliseconds ttl) {
  lease.ttl = ttl;
  lease.touch(Clock::now());
  host_.loop().cancel(lease.timer);
  watch(lease);
}

void Leases::forget(const Session& session) {
  const auto found = leases_.find(session.id());
  if (found == leases_.end()) return;
  host_.loop().cancel(found->second.timer);
  const auto opened = opened_.find(found->second.opener);
  if (--opened->second == 0) opened_.erase(opened);
  leases_.erase(found);
}

// A command only notes the time: the timer is set anew when it rings.
void Leases::watch(Lease& lease) {
  lease.timer = host_.loop().after(std::max(1ms, lease.left()), [this, &lease] {
    lease.timer = {};
    if (lease.session.is_awaited()) lease.touch(Clock::now());
    if (lease.left() > 0ms) return watch(lease);
    ran_out_(lease.session);
  });
}

std::string Leases::id_of(const Session& session) const {
  return fmt::format("s{}-{:x}", session.id(), host_.self().id);
}

bool Leases::is_id(std::string_view text) { return parse_id(text).has_value(); }

std::string Leases::why_missing(std::string_view id) const {
  const auto parsed = parse_id(id);
  if (!parsed) return "that is no session's id: SESSION OPEN gives one, such as s17-1a2b3c";
  if (parsed->member == host_.self().id)
    return "there is no such session: it ran out, was closed, or the secret is another";
  const auto* member = host_.view().find(parsed->member);
  if (member == nullptr)
    return "the node of this session has gone, and with it what the session held";
  return fmt::format("this session lives at {}{}: connect there", member->name,
                     member->client_address.empty() ? "" : " (" + member->client_address + ")");
}

}  // namespace turno::port

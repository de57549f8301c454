#include "port/findings.h"

#include <algorithm>

namespace turno::port {

namespace {

using Kind = Sighting::Kind;

void add(ThingFindings& lock, const NodeSighting& found) {
  const auto& sighting = found.sighting;
  if (sighting.is(Kind::waits)) {
    lock.waiters.push_back(&found);
    return;
  }
  if (table::several_have(sighting.thing)) {
    lock.holders.push_back(&found);
    return;
  }
  // Two can be seen when the lock changed hands between two answers: the larger fence is later.
  if (sighting.is(Kind::holds) &&
      (lock.holder == nullptr || sighting.fence > lock.holder->sighting.fence))
    lock.holder = &found;
  if (sighting.is(Kind::kept)) lock.kept = &found;
  if (sighting.is(Kind::leaving)) lock.leaving = &found;
  if (sighting.is(Kind::noted)) lock.noted = &found;
}

void conclude(ThingFindings& lock) {
  if (lock.holder != nullptr) lock.kept = lock.leaving = lock.noted = nullptr;
  if (lock.kept != nullptr) lock.leaving = lock.noted = nullptr;
  if (lock.leaving != nullptr) lock.noted = nullptr;
  std::stable_sort(
      lock.waiters.begin(), lock.waiters.end(),
      [](const auto* one, const auto* other) { return one->sighting.age > other->sighting.age; });
}

}  // namespace

std::size_t ThingFindings::in_use() const {
  std::size_t sum = 0;
  for (const auto* each : holders) {
    const auto& seen = each->sighting;
    sum += seen.thing == Thing::room ? (seen.is(Kind::holds) ? 1U : 0U)
                                     : seen.permits.size() + seen.resources.size();
  }
  return sum;
}

std::optional<Thing> thing_found(const Findings& findings) {
  std::optional<Thing> first, kept;
  for (const auto& [node, sighting] : findings.found) {
    // After a crash any lock is kept of which nobody knows whether somebody had it.
    auto& kind = sighting.is(Kind::kept) ? kept : first;
    if (!kind || sighting.thing < *kind) kind = sighting.thing;
  }
  return first ? first : kept;
}

// Who waits is counted anew only if there is something else of this name: all are known who wait,
// also those of whom was not told.
Findings only(Findings findings, Thing thing) {
  const auto others = std::erase_if(
      findings.found, [&](const NodeSighting& each) { return each.sighting.thing != thing; });
  if (others > 0)
    findings.waiting = static_cast<std::uint64_t>(
        std::count_if(findings.found.begin(), findings.found.end(),
                      [](const auto& each) { return each.sighting.is(Kind::waits); }));
  return findings;
}

ThingFindings put_in_order(std::span<const NodeSighting> found, Thing thing) {
  ThingFindings lock;
  for (const auto& each : found)
    if (each.sighting.thing == thing) add(lock, each);
  conclude(lock);
  return lock;
}

ByName put_in_order(const Findings& findings) {
  ByName things;
  for (const auto& each : findings.found)
    add(things[{each.sighting.lock, each.sighting.thing}], each);
  for (auto& [name, thing] : things) conclude(thing);
  return things;
}

std::string claims_of(std::span<const Resource> wanted) {
  std::string text;
  for (const auto& each : wanted)
    text += (text.empty() ? "" : " ") + each.type + ":" + std::to_string(each.number);
  return text;
}

std::string describe_silent(std::span<const SilentMember> silent) {
  std::string text;
  for (const auto& [name, pid, state] : silent)
    text += (text.empty() ? "" : "; ") + cluster::describe_process(name, pid, state) +
            " did not answer: " + cluster::remedy(pid, state);
  return text;
}

std::vector<QuietMember> quiet_members(const Host& host) {
  std::vector<QuietMember> quiet;
  for (const auto& member : host.view().members) {
    const auto link = host.peers().link(member.id);
    if (!link || link->quiet_for() < silent_after) continue;
    quiet.push_back({{member.name, member.pid, cluster::process_state(member.pid)},
                     std::chrono::duration_cast<std::chrono::milliseconds>(link->quiet_for())});
  }
  return quiet;
}

}  // namespace turno::port

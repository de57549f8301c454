// What becomes of a session when its node leaves.
#include <algorithm>

#include "port/resp/session.h"

namespace turno::port {

bool Session::hears() const {
  return std::any_of(speakers_.begin(), speakers_.end(),
                     [](const Speaker* speaker) { return speaker->hears(); });
}

void Session::dismiss(std::string_view reason) {
  fail_waits(std::string(reason) + "; the lock was not taken");
  dismissed_ = true;
  for (auto* kind : kinds())
    for (auto& [name, held] : kind->held) {
      host_.loop().cancel(held.ttl);
      announce({.kind = News::Kind::lost,
                .lock = name,
                .fence = held.fence,
                .reason = reason,
                .thing = kind->thing});
    }
  lose_all_permits(reason, false);
}

std::vector<table::Bequest> Session::bequeath() {
  std::vector<table::Bequest> bequests;
  std::size_t bytes = 0;
  for (auto* kind : kinds())
    for (auto& [name, held] : kind->held) {
      if (bequests.size() == table::most_bequests || bytes > table::most_bequeathed_bytes) break;
      if (held.moving) continue;
      auto bequest = host_.locks_of(kind->thing).bequeath(name, owner_, held.fence);
      if (!bequest) continue;
      held.moving = true;
      bequest->ttl = left_of(held.ttl);
      held.until = held.ttl.at;
      host_.loop().cancel(held.ttl);
      bytes += bequest->value.size();
      bequests.push_back(std::move(*bequest));
    }
  return bequests;
}

void Session::bequeathed(const std::vector<table::Bequest>& bequests) {
  for (const auto& bequest : bequests) {
    auto& kind = of(bequest.thing);
    if (const auto held = kind.held.find(bequest.lock); held != kind.held.end()) forget(kind, held);
  }
}

void Session::reclaim(const std::vector<table::Bequest>& bequests) {
  for (const auto& bequest : bequests) {
    auto& kind = of(bequest.thing);
    const auto held = kind.held.find(bequest.lock);
    if (held == kind.held.end()) continue;
    host_.locks_of(bequest.thing).reclaim(bequest.lock, owner_, bequest.fence);
    held->second.moving = false;
    // Its time to live went on meanwhile.
    auto left = bequest.ttl;
    if (left > left.zero())
      left =
          std::max(std::chrono::ceil<std::chrono::milliseconds>(held->second.until - Clock::now()),
                   std::chrono::milliseconds(1));
    set_ttl(bequest.thing, bequest.lock, held->second, left);
  }
}

bool Session::is_heir() const {
  const auto inherits = [&](const OfKind& kind) {
    return std::any_of(kind.held.begin(), kind.held.end(), [&](const auto& each) {
      return host_.locks_of(kind.thing).inherits(each.first, owner_);
    });
  };
  return inherits(locks_) || inherits(elections_);
}

std::string Session::inherit(std::uint64_t member, std::uint64_t number,
                             const std::vector<table::Bequest>& bequests) {
  const std::pair message(member, number);
  // It was said twice, because the view has changed.
  if (std::find(inherited_.begin(), inherited_.end(), message) != inherited_.end()) return {};
  if (holds() + waits_.size() + bequests.size() > most_locks)
    return "the session would hold too many locks";
  for (const auto& bequest : bequests) {
    auto& kind = of(bequest.thing);
    if (!kind.held.contains(bequest.lock) &&
        host_.locks_of(bequest.thing).inherit(bequest, owner_, member)) {
      auto& held = kind.held[bequest.lock];
      held.fence = bequest.fence;
      set_ttl(bequest.thing, bequest.lock, held, bequest.ttl);
      continue;
    }
    for (const auto& other : bequests) {
      if (&other == &bequest) break;
      host_.locks_of(other.thing).disinherit(other.lock, owner_);
      auto& others = of(other.thing).held;
      host_.loop().cancel(others[other.lock].ttl);
      others.erase(other.lock);
    }
    return "'" + bequest.lock + "' cannot be taken over";
  }
  inherited_.push_back(message);
  return {};
}

const std::string& Session::ticket() {
  if (inheritance_ticket_.empty())
    inheritance_ticket_ =
        std::to_string(cluster::random_id()) + "-" + std::to_string(cluster::random_id());
  return inheritance_ticket_;
}

}  // namespace turno::port

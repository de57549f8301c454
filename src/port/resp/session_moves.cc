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
  for (auto& [name, held] : held_) {
    host_.loop().cancel(held.ttl);
    announce({.kind = News::Kind::lost, .lock = name, .fence = held.fence, .reason = reason});
  }
  lose_all_permits(reason, false);
}

std::vector<table::Bequest> Session::bequeath() {
  std::vector<table::Bequest> bequests;
  for (const auto& holding : holdings()) {
    if (bequests.size() == table::most_bequests) break;
    auto& held = held_.find(holding.name)->second;
    if (held.moving) continue;
    const auto since = host_.locks().bequeath(holding.name, owner_, holding.fence);
    if (!since) continue;
    held.moving = true;
    host_.loop().cancel(held.ttl);
    bequests.push_back({holding.name, holding.fence, holding.ttl,
                        std::chrono::floor<std::chrono::milliseconds>(Clock::now() - *since)});
  }
  return bequests;
}

void Session::bequeathed(const std::vector<table::Bequest>& bequests) {
  for (const auto& bequest : bequests)
    if (const auto held = held_.find(bequest.lock); held != held_.end()) forget(held);
}

void Session::reclaim(const std::vector<table::Bequest>& bequests) {
  for (const auto& bequest : bequests) {
    const auto held = held_.find(bequest.lock);
    if (held == held_.end()) continue;
    host_.locks().reclaim(bequest.lock, owner_, bequest.fence);
    held->second.moving = false;
    set_ttl(bequest.lock, held->second, bequest.ttl);
  }
}

bool Session::is_heir() const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const auto& each) { return host_.locks().inherits(each.first, owner_); });
}

std::string Session::inherit(std::uint64_t member, std::uint64_t number,
                             const std::vector<table::Bequest>& bequests) {
  const std::pair message(member, number);
  // It was said twice, because the view has changed.
  if (std::find(inherited_.begin(), inherited_.end(), message) != inherited_.end()) return {};
  if (holds() + waits_.size() + bequests.size() > most_locks)
    return "the session would hold too many locks";
  for (const auto& bequest : bequests) {
    if (!held_.contains(bequest.lock) && host_.locks().inherit(bequest, owner_, member)) {
      auto& held = held_[bequest.lock];
      held.fence = bequest.fence;
      set_ttl(bequest.lock, held, bequest.ttl);
      continue;
    }
    for (const auto& other : bequests) {
      if (&other == &bequest) break;
      host_.locks().disinherit(other.lock, owner_);
      host_.loop().cancel(held_[other.lock].ttl);
      held_.erase(other.lock);
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

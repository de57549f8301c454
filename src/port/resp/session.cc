#include "port/resp/session.h"

#include <algorithm>
#include <utility>

#include "net/log.h"
#include "port/resp/deadlock/deadlock_watch.h"
#include "port/resp/session_wait.h"

namespace turno::port {

namespace {

using namespace std::chrono_literals;
// A try is answered by the lock's home or its algorithm; only if that is stopped, it takes so long.
constexpr auto longest_try = 1s;
// Of a room or a store nobody says that others are in the way: who gets in does so at once, or else
// is in vain.
constexpr auto longest_silent_try = 50ms;
constexpr std::size_t most_ended = 1000;  // waits whose end is remembered
constexpr std::string_view node_ends = "the node ends; the lock was not taken";

}  // namespace

void Session::Wait::settled(table::Afterwards& afterwards) {
  auto& loop = session_.host_.loop();
  const auto work = [alive = session_.alive_, session = &session_, number = ticket] {
    if (!*alive) return;
    if (auto* wait = session->find(number)) session->settle(*wait);
  };
  if (loop.here()) {
    loop.later(work);
  } else {
    afterwards.add([&loop, work] { loop.post(work); });
  }
}

Session::Session(Host& host, DeadlockWatch& watch) : host_(host), watch_(watch) {
  owner_.session = host.next_session();
}

Session::~Session() {
  end();
  *alive_ = false;
}

void Session::end() {
  for (auto& [ticket, wait] : waits_) {
    host_.loop().cancel(wait->timeout);
    give_up(*wait);
  }
  end_permits();
  waits_.clear();
  for (auto* kind : kinds()) {
    for (auto& [name, held] : kind->held) {
      host_.loop().cancel(held.ttl);
      host_.locks_of(kind->thing).release(name, owner_, held.fence);
    }
    kind->held.clear();
    kind->waited.clear();
    kind->announced.clear();
  }
}

void Session::leave(const Speaker& speaker) {
  speakers_.erase(std::remove(speakers_.begin(), speakers_.end(), &speaker), speakers_.end());
  std::vector<Wait*> orphans;
  for (auto& [ticket, wait] : waits_)
    if (wait->asker == &speaker) orphans.push_back(wait.get());
  for (auto* orphan : orphans) {
    const auto wait = take(*orphan);
    give_up(*wait);
  }
}

void Session::announce(const News& news) {
  for (auto* speaker : speakers_) speaker->tell(news);
}

Session::Asked Session::lock(const Wanted& wanted) {
  using State = Asked::State;
  auto& kind = of(wanted.thing);
  if (wanted.asker != nullptr) {
    if (kind.held.contains(wanted.name)) return {State::holds_already};
    if (!kind.waited.empty() && kind.waited.contains(wanted.name)) return {State::waits_already};
  }
  if (holds() + waits_.size() >= most_locks) return {State::too_many};
  if (auto objection = out_of_turn(wanted); !objection.empty()) {
    watch_.count_refusal();
    return {.state = State::refused, .objection = std::move(objection), .code = "DEADLOCK"};
  }
  const auto ticket = ++tickets_;
  auto owned = std::make_unique<Wait>(*this, ticket, wanted);
  auto& wait = *owned;
  auto& locks = host_.locks_of(wanted.thing);
  if (wait.tries ? locks.attempt(wait.name, wait) : locks.acquire(wait.name, wait)) {
    keep(wait);
    watch_out();
    return {State::granted, ticket, wait.fence};
  }
  if (wait.state == table::Waiter::State::refused) {
    if (wanted.asker == nullptr) remember(wait, News::Kind::timeout, {});
    return {State::refused, ticket};
  }
  ++kind.waited[wait.name];
  stand_in_line(std::move(owned), wanted.timeout);
  return {State::waiting, ticket};
}

void Session::stand_in_line(std::unique_ptr<Wait> owned, std::chrono::milliseconds timeout) {
  auto& wait = *owned;
  const auto ticket = wait.ticket;
  waits_.emplace(ticket, std::move(owned));
  if (wait.state == table::Waiter::State::failed) {
    host_.loop().later([alive = alive_, this, ticket] {
      if (!*alive) return;
      if (auto* late = find(ticket)) settle(*late);
    });
  } else if (timeout >= 0ms) {
    const std::chrono::milliseconds a_try =
        wait.thing == Thing::room || wait.thing == Thing::store ? longest_silent_try : longest_try;
    wait.timeout = host_.loop().after(timeout == 0ms ? a_try : timeout, [this, ticket] {
      if (auto* late = find(ticket)) expired(*late);
    });
  }
  watch_out();
}

Session::Wait* Session::find(std::uint64_t ticket) {
  const auto found = waits_.find(ticket);
  return found == waits_.end() ? nullptr : found->second.get();
}

void Session::give_up(Wait& wait) {
  if (withdraw(wait)) return;
  if (table::several_have(wait.thing)) {
    host_.pools(wait.thing).release(wait.name, owner_, wait.fence);
  } else {
    host_.locks_of(wait.thing).release(wait.name, owner_, wait.fence);
  }
}
bool Session::withdraw(Wait& wait) {
  return table::several_have(wait.thing) ? host_.pools(wait.thing).withdraw(wait.name, wait)
                                         : host_.locks_of(wait.thing).withdraw(wait.name, wait);
}

// Granted, refused, or the node ends.
void Session::settle(Wait& wait) {
  using State = table::Waiter::State;
  const auto objection = wait.objection();
  if (wait.state == State::granted) {
    table::several_have(wait.thing) ? keep_permits(wait) : keep(wait);
    watch_out();
    conclude(wait, News::Kind::granted);
  } else if (!objection.empty()) {
    conclude(wait, News::Kind::failed, objection, "ERR");
  } else {
    const bool refused = wait.state == State::refused;
    conclude(wait, refused ? News::Kind::timeout : News::Kind::failed, refused ? "" : node_ends);
  }
}

void Session::expired(Wait& wait) {
  // Too late: it was granted a moment ago, and that is on its way.
  if (!withdraw(wait)) return;
  conclude(wait, News::Kind::timeout);
}

void Session::conclude(Wait& wait, News::Kind kind, std::string_view reason,
                       std::string_view code) {
  const auto ended = take(wait);
  const News news{.kind = kind,
                  .lock = ended->name,
                  .ticket = ended->ticket,
                  .fence = ended->fence,
                  .reason = reason,
                  .thing = ended->thing,
                  .permits = {ended->units.data(), ended->units.size()},
                  .resources = ended->resources,
                  .code = code};
  if (ended->asker != nullptr) return ended->asker->answer(news);
  if (kind != News::Kind::granted) remember(*ended, kind, reason);
  announce(news);
}

void Session::remember(const Wait& wait, News::Kind kind, std::string_view reason) {
  const bool timeout = kind == News::Kind::timeout;
  ended_.emplace(wait.ticket,
                 Standing{.state = timeout ? Standing::State::timeout : Standing::State::failed,
                          .lock = wait.name,
                          .fence = {},
                          .reason = std::string(reason)});
  if (ended_.size() > most_ended) ended_.erase(ended_.begin());
}

std::optional<Session::Standing> Session::standing(std::uint64_t ticket) const {
  using State = Standing::State;
  if (const auto waits = waits_.find(ticket); waits != waits_.end())
    return Standing{
        .state = State::waiting, .lock = waits->second->name, .fence = {}, .reason = {}};
  if (const auto ended = ended_.find(ticket); ended != ended_.end()) return ended->second;
  for (const auto* kind : {&locks_, &elections_})
    if (const auto announced = kind->announced.find(ticket); announced != kind->announced.end())
      return Standing{.state = State::granted,
                      .lock = announced->second,
                      .fence = kind->held.find(announced->second)->second.fence,
                      .reason = {}};
  if (const auto* held = permits_.find(ticket))
    return Standing{.state = State::granted,
                    .lock = held->name,
                    .fence = held->fence,
                    .reason = {},
                    .permits = held->permits,
                    .resources = held->resources};
  return {};
}

bool Session::is_awaited() const {
  return std::any_of(waits_.begin(), waits_.end(),
                     [](const auto& wait) { return wait.second->asker != nullptr; });
}

void Session::fail_waits(std::string_view reason) {
  std::vector<std::uint64_t> tickets;
  for (const auto& [ticket, wait] : waits_) tickets.push_back(ticket);
  std::sort(tickets.begin(), tickets.end());
  for (const auto ticket : tickets) {
    // What is answered may lead to other waits' end.
    auto* wait = find(ticket);
    if (wait == nullptr) continue;
    give_up(*wait);
    wait->fence = {};
    conclude(*wait, News::Kind::failed, reason);
  }
}

void Session::break_off(std::string_view reason) {
  const auto speakers = speakers_;
  for (auto* speaker : speakers) speaker->session_ends(reason);
  const auto why = "its session " + std::string(reason);
  for (auto* kind : kinds()) {
    auto held = std::exchange(kind->held, {});
    kind->announced.clear();
    for (auto& [name, grant] : held) {
      host_.loop().cancel(grant.ttl);
      // Else the news that it is lost is on its way, and comes too late.
      host_.locks_of(kind->thing).release(name, owner_, grant.fence);
      announce({.kind = News::Kind::lost,
                .lock = name,
                .fence = grant.fence,
                .reason = why,
                .thing = kind->thing});
    }
  }
  lose_all_permits(why, true);
  fail_waits("the session " + std::string(reason) + "; the lock was not taken");
  speakers_.clear();
}

bool Session::cancel(std::uint64_t ticket) {
  auto* wait = find(ticket);
  if (wait == nullptr || wait->asker != nullptr || !withdraw(*wait)) return false;
  take(*wait);
  return true;
}

std::unique_ptr<Session::Wait> Session::take(Wait& wait) {
  host_.loop().cancel(wait.timeout);
  if (!table::several_have(wait.thing)) {
    auto& waited = of(wait.thing).waited;
    const auto named = waited.find(wait.name);
    if (--named->second == 0) waited.erase(named);
  }
  const auto found = waits_.find(wait.ticket);
  auto taken = std::move(found->second);
  waits_.erase(found);
  return taken;
}

void Session::keep(const Wait& wait) {
  auto& kind = of(wait.thing);
  auto& held = kind.held.try_emplace(wait.name).first->second;
  held.fence = wait.fence;
  // The news that it was lost, before it was granted again, may still be on its way.
  if (held.ticket != 0) kind.announced.erase(std::exchange(held.ticket, 0));
  if (wait.asker == nullptr) {
    held.ticket = wait.ticket;
    kind.announced.emplace(wait.ticket, wait.name);
  }
  set_ttl(wait.thing, wait.name, held, wait.ttl);
}

void Session::forget(OfKind& kind, ByName<Held>::iterator held) {
  if (held->second.ticket != 0) kind.announced.erase(held->second.ticket);
  kind.held.erase(held);
}

void Session::set_ttl(Thing thing, std::string_view name, Held& held,
                      std::chrono::milliseconds ttl) {
  host_.loop().cancel(held.ttl);
  if (ttl > 0ms)
    held.ttl = host_.loop().after(ttl, [this, thing, lock = std::string(name), fence = held.fence] {
      host_.locks_of(thing).take_back(lock, fence, "its time to live ran out");
    });
}

Session::ByName<Session::Held>::iterator Session::find_held(OfKind& kind, std::string_view name,
                                                            Fence fence) {
  const auto found = kind.held.find(name);
  const bool other = found != kind.held.end() && fence != Fence{} && fence != found->second.fence;
  return other ? kind.held.end() : found;
}

bool Session::unlock(std::string_view name, Fence fence, Thing thing) {
  auto& kind = of(thing);
  const auto held = find_held(kind, name, fence);
  if (held == kind.held.end() || held->second.moving) return false;
  host_.loop().cancel(held->second.ttl);
  const bool released = host_.locks_of(thing).release(name, owner_, held->second.fence);
  forget(kind, held);
  return released;
}

bool Session::renew(std::string_view name, std::chrono::milliseconds ttl, Fence fence,
                    Thing thing) {
  auto& kind = of(thing);
  const auto held = find_held(kind, name, fence);
  // The table knows; the news that it was lost may still be on its way to this session.
  if (held == kind.held.end() || dismissed_ ||
      !host_.locks_of(thing).holds(name, owner_, held->second.fence))
    return false;
  set_ttl(thing, name, held->second, ttl);
  return true;
}

void Session::lost(const std::string& lock, Fence fence, std::string_view reason, Thing thing) {
  auto& kind = of(thing);
  const auto held = find_held(kind, lock, fence);
  if (held == kind.held.end()) return;
  host_.loop().cancel(held->second.ttl);
  forget(kind, held);
  log::info("client {} (session {}) lost {} '{}': {}", owner_.client, id(), table::name(thing),
            lock, reason);
  announce(
      {.kind = News::Kind::lost, .lock = lock, .fence = fence, .reason = reason, .thing = thing});
}

std::optional<Fence> Session::fence_of(std::string_view name, Thing thing) const {
  const auto& all = thing == Thing::election ? elections_.held : locks_.held;
  const auto held = all.find(name);
  return held == all.end() ? std::nullopt : std::optional(held->second.fence);
}

std::chrono::milliseconds Session::left_of(const net::Loop::Timer& ttl) {
  if (ttl.number == 0) return 0ms;
  return std::max(1ms, std::chrono::ceil<std::chrono::milliseconds>(ttl.at - Clock::now()));
}

std::vector<Session::Holding> Session::holdings() const {
  std::vector<Holding> all;
  all.reserve(holds());
  for (const auto* kind : {&locks_, &elections_})
    for (const auto& [name, held] : kind->held)
      all.push_back(
          {.name = name, .thing = kind->thing, .fence = held.fence, .ttl = left_of(held.ttl)});
  for (const auto& [ticket, held] : permits_)
    all.push_back(
        {.name = held.name, .thing = held.thing, .fence = held.fence, .ttl = left_of(held.ttl)});
  return all;
}

}  // namespace turno::port

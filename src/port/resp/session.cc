#include "port/resp/session.h"

#include <algorithm>
#include <utility>

#include "net/log.h"

namespace turno::port {

namespace {

using namespace std::chrono_literals;
// A try is answered by the lock's home or its algorithm; only if that is stopped, it takes so long.
constexpr auto longest_try = 1s;

}  // namespace

// A place in a queue, for one wish.
class Session::Wait final : public table::Waiter {
 public:
  Wait(Session& session, std::uint64_t number, const Wanted& wanted)
      : table::Waiter(session.owner_),
        name(wanted.name),
        ttl(wanted.ttl),
        ticket(number),
        asker(wanted.asker),
        session_(session) {}

  void settled(table::Afterwards& afterwards) override {
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

  const std::string name;
  const std::chrono::milliseconds ttl;
  const std::uint64_t ticket;
  Speaker* const asker;
  net::Loop::Timer timeout;

 private:
  Session& session_;
};

Session::Session(Host& host) : host_(host) { owner_.session = host.next_session(); }

Session::~Session() {
  end();
  *alive_ = false;
}

void Session::end() {
  auto& locks = host_.locks();
  for (auto& [ticket, wait] : waits_) {
    host_.loop().cancel(wait->timeout);
    if (!locks.withdraw(wait->name, *wait)) locks.release(wait->name, owner_, wait->fence);
  }
  for (auto& [name, held] : held_) {
    host_.loop().cancel(held.ttl);
    locks.release(name, owner_, held.fence);
  }
  waits_.clear();
  waited_names_.clear();
  held_.clear();
}

void Session::leave(const Speaker& speaker) {
  speakers_.erase(std::remove(speakers_.begin(), speakers_.end(), &speaker), speakers_.end());
  std::vector<Wait*> orphans;
  for (auto& [ticket, wait] : waits_)
    if (wait->asker == &speaker) orphans.push_back(wait.get());
  for (auto* orphan : orphans) {
    const auto wait = take(*orphan);
    if (!host_.locks().withdraw(wait->name, *wait))
      host_.locks().release(wait->name, owner_, wait->fence);
  }
}

void Session::announce(const News& news) {
  for (auto* speaker : speakers_) speaker->tell(news);
}

Session::Asked Session::lock(const Wanted& wanted) {
  using State = Asked::State;
  if (wanted.asker != nullptr) {
    if (held_.contains(wanted.name)) return {State::holds_already};
    if (!waited_names_.empty() && waited_names_.contains(wanted.name))
      return {State::waits_already};
  }
  if (held_.size() + waits_.size() >= most_locks) return {State::too_many};
  const auto ticket = ++tickets_;
  auto owned = std::make_unique<Wait>(*this, ticket, wanted);
  auto& wait = *owned;
  const bool trying = wanted.timeout == 0ms;
  auto& locks = host_.locks();
  if (trying ? locks.attempt(wait.name, wait) : locks.acquire(wait.name, wait)) {
    keep(wait.name, wait.fence, wait.ttl);
    return {State::granted, ticket, wait.fence};
  }
  if (wait.state == table::Waiter::State::refused) return {State::refused, ticket};
  waits_.emplace(ticket, std::move(owned));
  ++waited_names_[wait.name];
  if (wait.state == table::Waiter::State::failed) {
    host_.loop().later([alive = alive_, this, ticket] {
      if (!*alive) return;
      if (auto* late = find(ticket)) settle(*late);
    });
  } else if (wanted.timeout >= 0ms) {
    wait.timeout = host_.loop().after(trying ? longest_try : wanted.timeout, [this, ticket] {
      if (auto* late = find(ticket)) expired(*late);
    });
  }
  return {State::waiting, ticket};
}

Session::Wait* Session::find(std::uint64_t ticket) {
  const auto found = waits_.find(ticket);
  return found == waits_.end() ? nullptr : found->second.get();
}

// Granted, refused, or the node ends.
void Session::settle(Wait& wait) {
  using State = table::Waiter::State;
  if (wait.state == State::granted) {
    keep(wait.name, wait.fence, wait.ttl);
    conclude(wait, News::Kind::granted);
  } else {
    conclude(wait, wait.state == State::refused ? News::Kind::timeout : News::Kind::failed);
  }
}

void Session::expired(Wait& wait) {
  // Too late: it was granted a moment ago, and that is on its way.
  if (!host_.locks().withdraw(wait.name, wait)) return;
  conclude(wait, News::Kind::timeout);
}

void Session::conclude(Wait& wait, News::Kind kind) {
  const auto ended = take(wait);
  const News news{.kind = kind,
                  .lock = ended->name,
                  .ticket = ended->ticket,
                  .fence = ended->fence,
                  .reason = "the node ends; the lock was not taken"};
  if (ended->asker != nullptr) return ended->asker->answer(news);
  announce(news);
}

bool Session::cancel(std::uint64_t ticket) {
  auto* wait = find(ticket);
  if (wait == nullptr || wait->asker != nullptr || !host_.locks().withdraw(wait->name, *wait))
    return false;
  take(*wait);
  return true;
}

std::unique_ptr<Session::Wait> Session::take(Wait& wait) {
  host_.loop().cancel(wait.timeout);
  const auto named = waited_names_.find(wait.name);
  if (--named->second == 0) waited_names_.erase(named);
  const auto found = waits_.find(wait.ticket);
  auto taken = std::move(found->second);
  waits_.erase(found);
  return taken;
}

void Session::keep(std::string_view name, Fence fence, std::chrono::milliseconds ttl) {
  auto& held = held_.try_emplace(std::string(name)).first->second;
  host_.loop().cancel(held.ttl);
  held.fence = fence;
  if (ttl > 0ms)
    held.ttl = host_.loop().after(ttl, [this, lock = std::string(name), fence] {
      host_.locks().take_back(lock, fence, "its time to live ran out");
    });
}

Session::ByName<Session::Held>::iterator Session::find_held(std::string_view name, Fence fence) {
  const auto found = held_.find(name);
  const bool other = found != held_.end() && fence != Fence{} && fence != found->second.fence;
  return other ? held_.end() : found;
}

bool Session::unlock(std::string_view name, Fence fence) {
  const auto held = find_held(name, fence);
  if (held == held_.end()) return false;
  host_.loop().cancel(held->second.ttl);
  const bool released = host_.locks().release(name, owner_, held->second.fence);
  held_.erase(held);
  return released;
}

bool Session::renew(std::string_view name, std::chrono::milliseconds ttl, Fence fence) {
  const auto held = find_held(name, fence);
  // The table knows; the news that it was lost may still be on its way to this session.
  if (held == held_.end() || !host_.locks().holds(name, owner_, held->second.fence)) return false;
  keep(name, held->second.fence, ttl);
  return true;
}

void Session::lost(const std::string& lock, Fence fence, std::string_view reason) {
  const auto held = find_held(lock, fence);
  if (held == held_.end()) return;
  host_.loop().cancel(held->second.ttl);
  held_.erase(held);
  log::info("client {} (session {}) lost '{}': {}", owner_.client, id(), lock, reason);
  announce({.kind = News::Kind::lost, .lock = lock, .fence = fence, .reason = reason});
}

std::vector<Session::Holding> Session::holdings() const {
  std::vector<Holding> all;
  all.reserve(held_.size());
  for (const auto& [name, held] : held_) {
    std::chrono::milliseconds left{0};
    if (held.ttl.number != 0)
      left =
          std::max(1ms, std::chrono::ceil<std::chrono::milliseconds>(held.ttl.at - Clock::now()));
    all.push_back({.name = name, .fence = held.fence, .ttl = left});
  }
  return all;
}

}  // namespace turno::port

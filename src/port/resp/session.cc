#include "port/resp/session.h"

#include <utility>

#include "net/log.h"
#include "net/socket.h"

namespace turno::port {

namespace {

using namespace std::chrono_literals;
constexpr std::size_t read_size = std::size_t{16} << 10;
constexpr std::size_t most_unread = std::size_t{256} << 10;  // bytes of a client that does not read
constexpr std::size_t most_locks = 100'000;                  // that one client holds or waits for
// A try is answered by the lock's home or its algorithm; only if that is stopped, it takes so long.
constexpr auto longest_try = 1s;

}  // namespace

// A place in a queue, for one LOCK command.
class Session::Wait final : public table::Waiter {
 public:
  Wait(Session& session, std::uint64_t number, const Wanted& wanted)
      : table::Waiter(session.owner_),
        name(wanted.name),
        ttl(wanted.ttl),
        ticket(number),
        async(wanted.async),
        session_(session) {}

  void settled(table::Afterwards& afterwards) override {
    auto& loop = session_.loop();
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
  const bool async;
  net::Loop::Timer timeout;

 private:
  Session& session_;
};

Session::Session(Clients& clients, net::Fd socket)
    : Stream(clients.host().loop(), std::move(socket)),
      clients_(clients),
      from_(net::peer_of(this->socket())),
      reply_(out(), 2) {
  owner_.session = clients.host().next_session();
  owner_.client = from_;
}

Session::~Session() {
  *alive_ = false;
  auto& locks = host().locks();
  for (auto& [ticket, wait] : waits_) {
    loop().cancel(wait->timeout);
    if (!locks.withdraw(wait->name, *wait)) locks.release(wait->name, owner_, wait->fence);
  }
  for (auto& [name, held] : held_) {
    loop().cancel(held.ttl);
    locks.release(name, owner_, held.fence);
  }
}

void Session::readable() {
  const auto room = parser_.prepare(read_size);
  const auto size = receive(room);
  if (ended()) return closed("closed by the client");
  parser_.commit(size);
  work();
}

void Session::closed(std::string_view reason) {
  log::debug("client {} ({}): {}", owner_.client, from_, reason);
  clients_.remove(*this);
}

void Session::work() {
  if (working_) return;
  working_ = true;
  // A client that does not read its replies is answered again when it does.
  bool more = true;
  while (more && !waiting_ && !quitting_ && unwritten() < most_unread) {
    more = execute_next();
    if (!more || unwritten() >= most_unread) flush();
  }
  working_ = false;
  flush();
  // While a reply is awaited, or not read, no more is read than a little.
  pause_reading(quitting_ ||
                ((waiting_ || unwritten() >= most_unread) && parser_.pending() > read_size));
  if (quitting_ && unwritten() == 0) closed("it was told goodbye");
}

// False: there is no whole command.
bool Session::execute_next() {
  const auto status = parser_.next();
  if (status == wire::Status::more) return false;
  if (status == wire::Status::error) {
    log::warning("client {} ({}): {}", owner_.client, from_, parser_.error());
    reply_.error("ERR", parser_.error());
    quitting_ = true;
    return false;
  }
  clients_.count_command();
  execute(*this, parser_.arguments());
  return true;
}

void Session::writable() {
  flush();
  if (is_open()) work();
}

void Session::go_on() {
  waiting_ = false;
  work();
}

// ---- locks

void Session::lock(const Wanted& wanted) {
  const std::string name(wanted.name);
  if (!wanted.async &&
      (held_.contains(name) || (!waited_names_.empty() && waited_names_.contains(name))))
    return reply_.error("HELD", "this session " +
                                    std::string(held_.contains(name) ? "holds '" : "waits for '") +
                                    name + "' already and would wait for itself");
  if (held_.size() + waits_.size() >= most_locks)
    return reply_.error("ERR", "this session holds or waits for too many locks: at most " +
                                   std::to_string(most_locks));
  const auto ticket = ++tickets_;
  auto owned = std::make_unique<Wait>(*this, ticket, wanted);
  auto& wait = *owned;
  if (wanted.async) reply_.integer(static_cast<std::int64_t>(ticket));
  const bool trying = wanted.timeout == 0ms;
  auto& locks = host().locks();
  if (trying ? locks.attempt(wait.name, wait) : locks.acquire(wait.name, wait)) {
    keep(wait.name, wait.fence, wait.ttl);
    if (!wanted.async) return reply_.integer(static_cast<std::int64_t>(wait.fence.value));
    reply_.push(4);
    reply_.bulk("granted");
    reply_.integer(static_cast<std::int64_t>(ticket));
    reply_.bulk(wait.name);
    reply_.integer(static_cast<std::int64_t>(wait.fence.value));
    return;
  }
  if (wait.state == table::Waiter::State::refused) return tell_timeout(wait);
  waits_.emplace(ticket, std::move(owned));
  ++waited_names_[name];
  if (!wanted.async) hold_replies();
  if (wait.state == table::Waiter::State::failed) {
    loop().later([alive = alive_, this, ticket] {
      if (!*alive) return;
      if (auto* late = find(ticket)) settle(*late);
    });
    return;
  }
  if (wanted.timeout < 0ms) return;
  wait.timeout = loop().after(trying ? longest_try : wanted.timeout, [this, ticket] {
    if (auto* late = find(ticket)) expired(*late);
  });
}

Session::Wait* Session::find(std::uint64_t ticket) {
  const auto found = waits_.find(ticket);
  return found == waits_.end() ? nullptr : found->second.get();
}

// Granted, refused, or the node ends.
void Session::settle(Wait& wait) {
  if (wait.state == table::Waiter::State::refused) {
    tell_timeout(wait);
    return conclude(wait);
  }
  const bool granted = wait.state == table::Waiter::State::granted;
  if (granted) keep(wait.name, wait.fence, wait.ttl);
  const auto fence = static_cast<std::int64_t>(wait.fence.value);
  constexpr std::string_view ending = "the node ends; the lock was not taken";
  if (wait.async) {
    reply_.push(4);
    reply_.bulk(granted ? "granted" : "failed");
    reply_.integer(static_cast<std::int64_t>(wait.ticket));
    reply_.bulk(wait.name);
    if (granted) {
      reply_.integer(fence);
    } else {
      reply_.bulk(ending);
    }
  } else if (granted) {
    reply_.integer(fence);
  } else {
    reply_.error("UNAVAILABLE", ending);
  }
  conclude(wait);
}

void Session::expired(Wait& wait) {
  // Too late: it was granted a moment ago, and that is on its way.
  if (!host().locks().withdraw(wait.name, wait)) return;
  tell_timeout(wait);
  conclude(wait);
}

// Not in time, or somebody is in the way of a try.
void Session::tell_timeout(const Wait& wait) {
  if (!wait.async) return reply_.null();
  reply_.push(3);
  reply_.bulk("timeout");
  reply_.integer(static_cast<std::int64_t>(wait.ticket));
  reply_.bulk(wait.name);
}

// The command has its reply.
void Session::conclude(Wait& wait) {
  const bool async = wait.async;
  remove(wait);
  if (async) return flush();
  go_on();
}

void Session::cancel(std::uint64_t ticket) {
  auto* wait = find(ticket);
  if (wait == nullptr || !host().locks().withdraw(wait->name, *wait)) return reply_.integer(0);
  remove(*wait);
  reply_.integer(1);
}

void Session::remove(Wait& wait) {
  loop().cancel(wait.timeout);
  const auto named = waited_names_.find(wait.name);
  if (--named->second == 0) waited_names_.erase(named);
  waits_.erase(wait.ticket);
}

void Session::keep(const std::string& name, Fence fence, std::chrono::milliseconds ttl) {
  auto& held = held_[name];
  loop().cancel(held.ttl);
  held.fence = fence;
  if (ttl > 0ms)
    held.ttl = loop().after(ttl, [this, name, fence] {
      host().locks().take_back(name, fence, "its time to live ran out");
    });
}

void Session::unlock(std::string_view name, Fence fence) {
  const auto held = held_.find(std::string(name));
  if (held == held_.end() || (fence != Fence{} && fence != held->second.fence))
    return reply_.integer(0);
  loop().cancel(held->second.ttl);
  const bool released = host().locks().release(name, owner_, held->second.fence);
  held_.erase(held);
  reply_.integer(released ? 1 : 0);
}

void Session::renew(std::string_view name, std::chrono::milliseconds ttl, Fence fence) {
  const auto held = held_.find(std::string(name));
  if (held == held_.end() || (fence != Fence{} && fence != held->second.fence))
    return reply_.integer(0);
  // The table knows; the news that it was lost may still be on its way to this session.
  if (!host().locks().holds(name, owner_, held->second.fence)) return reply_.integer(0);
  keep(held->first, held->second.fence, ttl);
  reply_.integer(1);
}

void Session::lost(const std::string& lock, Fence fence, const std::string& reason) {
  const auto held = held_.find(lock);
  if (held == held_.end() || held->second.fence != fence) return;
  loop().cancel(held->second.ttl);
  held_.erase(held);
  log::info("client {} ({}) lost '{}': {}", owner_.client, from_, lock, reason);
  // Version 2 has no way to say something unasked.
  if (reply_.protocol() < 3) return;
  reply_.push(4);
  reply_.bulk("lost");
  reply_.bulk(lock);
  reply_.integer(static_cast<std::int64_t>(fence.value));
  reply_.bulk(reason);
  flush();
}

}  // namespace turno::port

#include "node/session.h"

#include <utility>

#include "net/log.h"
#include "net/socket.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
constexpr std::size_t read_size = std::size_t{16} << 10;
constexpr std::size_t most_unread = std::size_t{256} << 10;  // bytes of a client that does not read
constexpr std::size_t most_waits = 100'000;                  // of one client
// A try fails as soon as somebody is known to hold the lock. If nobody is, it may still take a
// moment to get it here.
constexpr auto longest_try = 1s;

}  // namespace

// A place in a queue, for one LOCK command.
class Session::Wait final : public Waiter {
 public:
  Wait(Session& session, std::uint64_t number, const Wanted& wanted)
      : Waiter(session.owner_),
        name(wanted.name),
        ttl(wanted.ttl),
        ticket(number),
        async(wanted.async),
        session_(session) {}

  void settled() override {
    auto& loop = session_.loop();
    const auto work = [alive = session_.alive_, session = &session_, number = ticket] {
      if (!*alive) return;
      if (auto* wait = session->find(number)) session->settle(*wait);
    };
    if (loop.here()) {
      loop.later(work);
    } else {
      loop.post(work);
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
    : Stream(clients.daemon().loop(), std::move(socket)),
      clients_(clients),
      from_(net::peer_of(this->socket())),
      reply_(out(), 2) {
  owner_.session = clients.daemon().next_session();
  owner_.client = from_;
}

Session::~Session() {
  *alive_ = false;
  auto& locks = daemon().locks();
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
  if (!wanted.async && held_.contains(std::string(wanted.name)))
    return reply_.error("HELD", "this session holds '" + std::string(wanted.name) +
                                    "' already and would wait for itself");
  if (waits_.size() >= most_waits)
    return reply_.error("ERR", "this session waits for too many locks");
  const auto ticket = ++tickets_;
  auto owned = std::make_unique<Wait>(*this, ticket, wanted);
  auto& wait = *owned;
  if (wanted.async) reply_.integer(static_cast<std::int64_t>(ticket));
  if (daemon().locks().acquire(wait.name, wait)) {
    keep(wait.name, wait.fence, wait.ttl);
    if (!wanted.async) return reply_.integer(static_cast<std::int64_t>(wait.fence.value));
    reply_.push(4);
    reply_.bulk("granted");
    reply_.integer(static_cast<std::int64_t>(ticket));
    reply_.bulk(wait.name);
    reply_.integer(static_cast<std::int64_t>(wait.fence.value));
    return;
  }
  waits_.emplace(ticket, std::move(owned));
  if (!wanted.async) hold_replies();
  if (wait.state == Waiter::State::failed) return wait.settled();
  if (wanted.timeout < 0ms) return;
  if (wanted.timeout == 0ms) look_before_waiting(wait);
  wait.timeout = loop().after(wanted.timeout == 0ms ? longest_try : wanted.timeout, [this, ticket] {
    if (auto* late = find(ticket)) expired(*late);
  });
}

// For a try: if somebody else has the lock or waits for it, there is no point in waiting.
void Session::look_before_waiting(Wait& wait) {
  daemon().ask(wait.name, [alive = alive_, this, ticket = wait.ticket](
                              const std::vector<NodeSighting>& found, bool) {
    if (!*alive) return;
    auto* trying = find(ticket);
    if (trying == nullptr) return;
    for (const auto& other : found) {
      const bool own = other.node == daemon().self().name &&
                       other.sighting.session == owner_.session && !other.sighting.holds;
      if (own) continue;
      // Not from inside the command: its reply is not awaited yet.
      loop().later([alive = alive_, this, ticket] {
        if (!*alive) return;
        if (auto* late = find(ticket)) expired(*late);
      });
      return;
    }
  });
}

Session::Wait* Session::find(std::uint64_t ticket) {
  const auto found = waits_.find(ticket);
  return found == waits_.end() ? nullptr : found->second.get();
}

// Granted, or the node ends.
void Session::settle(Wait& wait) {
  const bool granted = wait.state == Waiter::State::granted;
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
  if (!daemon().locks().withdraw(wait.name, wait)) return;
  if (wait.async) {
    reply_.push(3);
    reply_.bulk("timeout");
    reply_.integer(static_cast<std::int64_t>(wait.ticket));
    reply_.bulk(wait.name);
  } else {
    reply_.null();
  }
  conclude(wait);
}

// The command has its reply.
void Session::conclude(Wait& wait) {
  const bool async = wait.async;
  loop().cancel(wait.timeout);
  waits_.erase(wait.ticket);
  if (async) return flush();
  go_on();
}

void Session::cancel(std::uint64_t ticket) {
  auto* wait = find(ticket);
  if (wait == nullptr || !daemon().locks().withdraw(wait->name, *wait)) return reply_.integer(0);
  loop().cancel(wait->timeout);
  waits_.erase(ticket);
  reply_.integer(1);
}

void Session::keep(const std::string& name, Fence fence, std::chrono::milliseconds ttl) {
  auto& held = held_[name];
  loop().cancel(held.ttl);
  held.fence = fence;
  if (ttl > 0ms)
    held.ttl = loop().after(ttl, [this, name, fence] {
      daemon().locks().take_back(name, fence, "its time to live ran out");
    });
}

void Session::unlock(std::string_view name, Fence fence) {
  const auto held = held_.find(std::string(name));
  if (held == held_.end() || (fence != Fence{} && fence != held->second.fence))
    return reply_.integer(0);
  loop().cancel(held->second.ttl);
  const bool released = daemon().locks().release(name, owner_, held->second.fence);
  held_.erase(held);
  reply_.integer(released ? 1 : 0);
}

void Session::renew(std::string_view name, std::chrono::milliseconds ttl, Fence fence) {
  const auto held = held_.find(std::string(name));
  if (held == held_.end() || (fence != Fence{} && fence != held->second.fence))
    return reply_.integer(0);
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

}  // namespace turno::node

#include "port/resp/clients.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "net/log.h"
#include "port/resp/connection.h"

namespace turno::port {

Clients::Clients(Host& host, std::vector<net::Fd> sockets, std::chrono::milliseconds patience)
    : host_(host),
      patience_(patience),
      deadlocks_(*this, host),
      leases_(host, [this](Session& session) {
        log::info("the session of client {} (session {}) ran out", session.name(), session.id());
        break_off(session, "ran out");
      }) {
  for (auto& socket : sockets)
    acceptors_.push_back(std::make_unique<net::Acceptor>(
        host.loop(), std::move(socket), [this](net::Fd made) { admit(std::move(made)); }));
}

Clients::~Clients() {
  *alive_ = false;
  end();
}

// Some descriptors are kept for other nodes, the registry, and HTTP.
std::size_t Clients::most_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  return limit.rlim_cur - limit.rlim_cur / 4;
}

void Clients::admit(net::Fd socket) {
  if (connections_.size() >= most_connections_) {
    if (const auto unsaid = refused_.admit())
      log::warning(
          "{} clients are connected: more are refused, unless the limit of open files "
          "(ulimit -n) is raised{}",
          connections_.size(), *unsaid);
    constexpr std::string_view refusal = "-ERR max number of clients reached\r\n";
    (void)::send(socket.get(), refusal.data(), refusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  ++admitted_;
  auto connection = std::make_unique<Connection>(*this, std::move(socket), make_session());
  const auto id = connection->id();
  connections_.emplace(id, std::move(connection));
}

void Clients::remove(Connection& connection) {
  connection.close();
  auto node = connections_.extract(connection.id());
  if (node.empty()) return;
  leaving_.push_back(std::move(node.mapped()));
  clean_up_later();
}

Session& Clients::make_session() {
  auto session = std::make_unique<Session>(host_, deadlocks_);
  return *sessions_.emplace(session->id(), std::move(session)).first->second;
}

void Clients::left(Session& session) {
  if (!leases_.contains(session) && !kept_.contains(session.id())) retire(session);
}

void Clients::break_off(Session& session, std::string_view reason) {
  leases_.forget(session);
  session.break_off(reason);
  retire(session);
}

void Clients::cut(Session& session) {
  kept_.insert(session.id());
  std::vector<Connection*> speaking;
  for (auto& [id, connection] : connections_)
    if (&connection->session() == &session) speaking.push_back(connection.get());
  for (auto* connection : speaking) {
    connection->flush();
    remove(*connection);
  }
}

Session* Clients::find(std::uint64_t session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second.get();
}

std::string Clients::inherit(std::uint64_t member, std::uint64_t number, const table::Will& will) {
  for (auto& [id, session] : sessions_)
    if (session->has_ticket(will.ticket)) return session->inherit(member, number, will.bequests);
  return "there is no session with this ticket";
}

void Clients::retire(Session& session) {
  session.end();
  auto node = sessions_.extract(session.id());
  if (node.empty()) return;
  retired_.push_back(std::move(node.mapped()));
  clean_up_later();
}

void Clients::clean_up_later() {
  host_.loop().later([this, alive = alive_] {
    if (!*alive) return;
    // A connection that goes may leave a session behind.
    std::exchange(leaving_, {}).clear();
    std::exchange(retired_, {}).clear();
  });
}

void Clients::lost(const Owner& owner, Thing thing, const std::string& name, Fence fence,
                   std::string_view reason) {
  host_.loop().post([this, id = owner.session, thing, name, fence, reason = std::string(reason)] {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    auto& session = *found->second;
    table::several_have(thing) ? session.lost_permits(thing, name, fence, reason)
                               : session.lost(name, fence, reason, thing);
  });
}

void Clients::tell_leader(const Leadership& change) {
  for (auto& [id, connection] : connections_) connection->tell_leader(change);
}

void Clients::tell_members(const cluster::View& view) {
  for (auto& [id, connection] : connections_) connection->tell_members(view);
}

bool Clients::anybody_holds() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& each) { return each.second->holds() > 0; });
}

void Clients::end() {
  acceptors_.clear();
  // Who waits is told that it waited in vain, and asks for nothing more.
  for (auto& [id, connection] : connections_) connection->refuse_more();
  for (auto& [id, session] : sessions_)
    session->fail_waits("the node ends; the lock was not taken");
  leaving_.clear();
  connections_.clear();
  leases_.clear();
  sessions_.clear();
  retired_.clear();
}

}  // namespace turno::port

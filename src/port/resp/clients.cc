#include "port/resp/clients.h"

#include <utility>

#include "port/resp/connection.h"
#include "port/resp/session.h"

namespace turno::port {

Clients::Clients(Host& host, std::vector<net::Fd> sockets) : host_(host) {
  for (auto& socket : sockets)
    acceptors_.push_back(std::make_unique<net::Acceptor>(
        host.loop(), std::move(socket), [this](net::Fd made) { admit(std::move(made)); }));
}

Clients::~Clients() {
  *alive_ = false;
  end();
}

void Clients::admit(net::Fd socket) {
  ++admitted_;
  auto owned = std::make_unique<Session>(host_);
  auto& session = *owned;
  sessions_.emplace(session.id(), std::move(owned));
  auto connection = std::make_unique<Connection>(*this, std::move(socket), session);
  const auto id = connection->id();
  connections_.emplace(id, std::move(connection));
}

void Clients::remove(Connection& connection) {
  connection.close();
  auto node = connections_.extract(connection.id());
  if (node.empty()) return;
  leaving_.push_back(std::move(node.mapped()));
  host_.loop().later([this, alive = alive_] {
    if (*alive) leaving_.clear();
  });
}

void Clients::left(Session& session) { sessions_.erase(session.id()); }

void Clients::lost(const Owner& owner, const std::string& lock, Fence fence,
                   std::string_view reason) {
  host_.loop().post([this, id = owner.session, lock, fence, reason = std::string(reason)] {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second->lost(lock, fence, reason);
  });
}

void Clients::end() {
  acceptors_.clear();
  leaving_.clear();
  connections_.clear();
  sessions_.clear();
}

}  // namespace turno::port

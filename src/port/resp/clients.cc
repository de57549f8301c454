#include "port/resp/clients.h"

#include <utility>

#include "port/resp/session.h"

namespace turno::port {

Clients::Clients(Host& host, std::vector<net::Fd> sockets) : host_(host) {
  for (auto& socket : sockets)
    acceptors_.push_back(std::make_unique<net::Acceptor>(
        host.loop(), std::move(socket), [this](net::Fd made) { admit(std::move(made)); }));
}
Clients::~Clients() = default;

void Clients::admit(net::Fd socket) {
  ++connections_;
  auto session = std::make_unique<Session>(*this, std::move(socket));
  const auto id = session->id();
  sessions_.emplace(id, std::move(session));
}

void Clients::remove(Session& session) {
  session.close();
  auto node = sessions_.extract(session.id());
  if (node.empty()) return;
  // It may be at work right now: it goes when its work is done.
  host_.loop().later([gone = std::shared_ptr<Session>(std::move(node.mapped()))] {});
}

void Clients::lost(const Owner& owner, const std::string& lock, Fence fence,
                   std::string_view reason) {
  host_.loop().post([this, id = owner.session, lock, fence, reason = std::string(reason)] {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second->lost(lock, fence, reason);
  });
}

void Clients::end() {
  acceptors_.clear();
  sessions_.clear();
}

}  // namespace turno::port

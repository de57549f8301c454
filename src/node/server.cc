#include "node/server.h"

namespace turno::node {

tl::expected<std::unique_ptr<Server>, std::string> Server::start(Settings settings,
                                                                 Daemon::Lost lost) {
  std::unique_ptr<Server> server(new Server);
  auto daemon = Daemon::start(std::move(settings),
                              [raw = server.get(), lost = std::move(lost)](
                                  const Owner& owner, table::Thing thing, const std::string& name,
                                  Fence fence, std::string_view reason) {
                                if (lost) lost(owner, thing, name, fence, reason);
                                if (raw->clients_)
                                  raw->clients_->lost(owner, thing, name, fence, reason);
                              });
  if (!daemon) return tl::unexpected(daemon.error());
  server->daemon_ = std::move(*daemon);
  server->clients_ =
      std::make_unique<port::Clients>(*server->daemon_, server->daemon_->take_client_sockets());
  server->daemon_->set_witness(&server->clients_->deadlocks());
  server->daemon_->observe(
      [raw = server.get()](const Leadership& change) { raw->clients_->tell_leader(change); });
  server->daemon_->set_viewer(
      [raw = server.get()](const cluster::View& view) { raw->clients_->tell_members(view); });
  server->daemon_->set_heir(
      [raw = server.get()](std::uint64_t member, std::uint64_t number, const table::Will& will) {
        return raw->clients_->inherit(member, number, will);
      });
  server->daemon_->set_drain([raw = server.get()](std::string_view reason) {
    raw->drain_ = std::make_unique<port::Drain>(
        *raw->clients_, reason, raw->daemon_->settings().drain, [raw] { raw->stop(); });
  });
  if (auto socket = server->daemon_->take_http_socket())
    server->http_ = std::make_unique<port::Http>(
        server->daemon_->loop(), std::move(socket),
        [pages = std::make_shared<port::Pages>(*server->daemon_, *server->clients_)](
            const auto& request, const auto& done) { pages->answer(request, done); });
  return server;
}

Server::~Server() {
  http_.reset();
  drain_.reset();
  if (daemon_) {
    daemon_->end();
    daemon_->set_witness(nullptr);
  }
  clients_.reset();
}

std::string Server::run() {
  daemon_->run();
  http_.reset();
  drain_.reset();
  // Before the sessions, which would give their locks to others: the programs behind them do not
  // know yet that they have lost them. Who holds something gets the lock delay to stop, as after a
  // crash: the others hear of this node's end from the kernel.
  const bool held = clients_->anybody_holds();
  daemon_->end();
  clients_->end();
  if (!held) daemon_->leave();
  return daemon_->failure();
}

}  // namespace turno::node

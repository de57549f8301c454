// A whole node: the daemon and its faces.
#pragma once

#include <memory>
#include <string>

#include "node/daemon.h"
#include "port/http/http.h"
#include "port/http/pages.h"
#include "port/resp/clients.h"
#include "port/resp/drain.h"

namespace turno::node {

class Server {
 public:
  // `lost` is told of grants that are taken away from owners that are no clients: those of a
  // program in which the node is embedded. Called from any thread.
  static tl::expected<std::unique_ptr<Server>, std::string> start(Settings settings,
                                                                  Daemon::Lost lost = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Until stop() is called, from any thread or a signal's watcher; then leaves the cluster, or, if
  // clients still hold something, only ends. Nothing, or why it had to end.
  std::string run();
  void stop() { daemon_->stop(); }
  // The same when all clients have moved to other nodes, or have let go of what they had. In the
  // loop's thread.
  void drain(std::string_view reason) { daemon_->drain(reason); }
  [[nodiscard]] Daemon& daemon() { return *daemon_; }
  [[nodiscard]] port::Clients& clients() { return *clients_; }

 private:
  Server() = default;

  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<port::Clients> clients_;
  std::unique_ptr<port::Http> http_;    // none if there is no address for it
  std::unique_ptr<port::Drain> drain_;  // while the node leaves
};

}  // namespace turno::node

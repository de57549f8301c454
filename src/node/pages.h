// What a node answers over HTTP, page by page.
#pragma once

#include <functional>

#include "node/clients.h"
#include "node/daemon.h"
#include "node/http_message.h"

namespace turno::node {

class Pages {
 public:
  using Done = std::function<void(const HttpResponse&)>;

  Pages(Daemon& daemon, const Clients& clients) : daemon_(daemon), clients_(clients) {}

  // Calls `done` once, at once or when other members have answered. In the loop's thread.
  void answer(const HttpRequest& request, const Done& done);

 private:
  void answer_locks(const HttpRequest& request, const Done& done);

  Daemon& daemon_;
  const Clients& clients_;
};

}  // namespace turno::node

// What a node answers over HTTP, page by page.
#pragma once

#include "port/host.h"
#include "port/http/http.h"
#include "port/resp/clients.h"

namespace turno::port {

class Pages {
 public:
  using Done = Http::Done;

  Pages(Host& host, Clients& clients) : host_(host), clients_(clients) {}

  // Calls `done` once, at once or when other members have answered. In the loop's thread.
  void answer(const HttpRequest& request, const Done& done);

 private:
  void answer_locks(const HttpRequest& request, const Done& done);

  Host& host_;
  Clients& clients_;
};

}  // namespace turno::port

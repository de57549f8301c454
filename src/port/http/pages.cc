#include "port/http/pages.h"

#include <fmt/format.h>

#include "port/http/exposition.h"
#include "port/http/metrics.h"
#include "port/http/status.h"

namespace turno::port {

namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view locks_path = "/locks";

constexpr std::string_view index_text =
    "A node of Turno, distributed locks. What there is:\n"
    "\n"
    "/metrics     for Prometheus\n"
    "/healthz     200 if the node runs\n"
    "/readyz      200 if the node can serve every lock, or 503 and why not\n"
    "/status      this node and its cluster, JSON\n"
    "/locks       who holds and who waits in the whole cluster, JSON\n"
    "/locks/NAME  the same for one lock, and for what its holder waits\n";

}  // namespace

void Pages::answer(const HttpRequest& request, const Done& done) {
  const std::string_view path = request.path;
  if (request.method != "GET" && request.method != "HEAD")
    return done(failure_response({405, "there is only GET and HEAD"}));
  if (request.body) return done(failure_response({413, "a request has no body here"}));
  if (path == "/") return done({.body = std::string(index_text)});
  if (path == "/healthz") return done({.body = "ok\n"});
  if (path == "/readyz") {
    const auto reason = unready_reason(host_);
    if (reason.empty()) return done({.body = "ready\n" + quiet_text(host_)});
    return done({.status = 503, .body = "not ready: " + reason + "\n" + quiet_text(host_)});
  }
  if (path == "/metrics")
    return done({.body = metrics_text(host_, clients_), .type = Exposition::type});
  if (path == "/status") return done({.body = status_json(host_, clients_), .type = json_type});
  if (path == locks_path || path.starts_with("/locks/")) return answer_locks(request, done);
  done(failure_response({404, "there is no such page; / lists what there is"}));
}

void Pages::answer_locks(const HttpRequest& request, const Done& done) {
  if (request.path.size() <= locks_path.size() + 1)
    return host_.ask("", [done](const Findings& findings) {
      done({.body = locks_json(findings), .type = json_type});
    });
  const auto name = request.path.substr(locks_path.size() + 1);
  if (name.size() > LockTable::longest_name)
    return done(failure_response(
        {400, fmt::format("the name is too long: at most {} bytes", LockTable::longest_name)}));
  host_.ask(name, [this, done, name](const Findings& findings) {
    clients_.deadlocks().trace(
        DeadlockWatch::called(name), [done, name, findings](const DeadlockWatch::Chain& chain) {
          done({.body = lock_json(name, findings, chain), .type = json_type});
        });
  });
}

}  // namespace turno::port

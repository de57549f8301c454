// An election of the cluster: at most one leads, with a value of its own that everybody can read,
// and a term that grows with every leader.
//
// The leader holds a grant, of which the fence is the term; it resigns by releasing it, and the
// grant tells when the leadership is lost. Observers are told of every change of which their node
// hears, in the order of terms.
//
// Thread safety: every call from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

class Election {
 public:
  Election(Service& service, std::string name) : service_(service), name_(std::move(name)) {}
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Waits until nobody else leads. The grant's fence is the term; what `request` says of waiting
  // and of a time to live holds as for locks.
  [[nodiscard]] tl::expected<Grant, Error> campaign(std::string value, Request request = {},
                                                    std::stop_token stop = {}) {
    auto election = service_.open_election(name_);
    if (!election) return tl::unexpected(std::move(election.error()));
    request.value = std::move(value);
    auto grant = service_.acquire(*election, request, std::move(stop));
    service_.close(*election);
    return grant;
  }
  // The same as releasing the grant. Does not block.
  static void resign(Grant& leadership) noexcept { leadership.release(); }

  // Who leads; nothing if nobody does. All nodes are asked: fails with `unavailable` if one does
  // not answer and might have the leader.
  [[nodiscard]] tl::expected<std::optional<Leader>, Error> leader() {
    return service_.leader(name_);
  }

  // Calls `changed` with who leads now, before this returns, and then whenever it changes, with
  // nothing if nobody leads, until what is returned is destroyed: one call after another, in a
  // thread of the service, that waits for it. Not to be destroyed in that thread.
  [[nodiscard]] tl::expected<std::unique_ptr<Observation>, Error> observe(
      Service::LeaderChanged changed) {
    return service_.observe(name_, std::move(changed));
  }

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Service& service_;
  const std::string name_;
};

}  // namespace turno

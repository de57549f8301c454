// Sessions that are no connections: whoever knows the secret of one can speak for it, from any
// connection to its node. Such a session lives while somebody who speaks for it says something
// from time to time, or waits for an answer.
//
// In the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "port/host.h"
#include "port/resp/session.h"

namespace turno::port {

class Leases {
 public:
  static constexpr std::size_t most = 10'000;
  // The last ones are for users and addresses that have few.
  static constexpr std::size_t reserve = 1'000, few = 100;
  static constexpr std::chrono::milliseconds longest = std::chrono::hours(24);

  struct Lease {
    Session& session;
    const std::string opener;  // a user of this machine, or an address
    const std::string id;      // for the whole cluster: the session and its node
    const std::string secret;  // never shown again, never logged
    std::chrono::milliseconds ttl;
    Clock::time_point used;  // when somebody spoke last
    net::Loop::Timer timer;

    void touch(Clock::time_point now) { used = now; }
    [[nodiscard]] std::chrono::milliseconds left() const;
  };
  // The time of a session has run out.
  using RanOut = std::function<void(Session&)>;

  Leases(Host& host, RanOut ran_out) : host_(host), ran_out_(std::move(ran_out)) {}
  ~Leases() { clear(); }
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // Why it may open no more, or nothing.
  [[nodiscard]] std::string objection_to(const std::string& opener) const;
  // REQUIRES: there is no objection.
  Lease& open(Session& session, const std::string& opener, std::chrono::milliseconds ttl);
  // Nothing if there is none with this secret.
  Lease* find(std::string_view id, std::string_view secret);
  [[nodiscard]] bool contains(const Session& session) const {
    return leases_.contains(session.id());
  }
  void keep(Lease& lease, std::chrono::milliseconds ttl);
  void forget(const Session& session);
  void clear();
  [[nodiscard]] std::size_t size() const { return leases_.size(); }

  [[nodiscard]] std::string id_of(const Session& session) const;
  // Whether a text can be the id of a session, of this or another node.
  [[nodiscard]] static bool is_id(std::string_view text);
  // Why find() has found nothing, for people.
  [[nodiscard]] std::string why_missing(std::string_view id) const;

 private:
  void watch(Lease& lease);

  Host& host_;
  const RanOut ran_out_;
  std::unordered_map<std::uint64_t, Lease> leases_;      // by session
  std::unordered_map<std::string, std::size_t> opened_;  // how many, by opener
};

}  // namespace turno::port

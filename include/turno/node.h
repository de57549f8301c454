// A node of a cluster inside this program: no other process is needed, and a lock that rests here
// costs no message.
//
// Thread safety: all calls from any thread. The node has two threads of its own. After fork(), only
// the parent has a node.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "turno/error.h"
#include "turno/service.h"

namespace turno {

class Node final : public Service {
 public:
  struct Options {
    // Where the nodes of this machine meet: of this user, and nobody else may write into it. What
    // fences are made of is kept there, so it should outlive a reboot.
    std::string directory;
    std::string name = {};  // empty: made from the process
    // Of the whole cluster; the first node decides. Empty: whatever the cluster has.
    std::string algorithm = {};
    std::chrono::milliseconds lock_delay{1000};  // how long a crashed node's locks stay closed
    std::chrono::milliseconds idle{60'000};      // after which an unused lock is forgotten
    // Where clients and browsers may connect, as in "127.0.0.1:0"; empty: nowhere. Nobody is asked
    // for a password, so addresses that other machines can reach are refused unless `exposed`.
    std::string client_address = {}, client_socket = {}, http_address = {};
    bool exposed = false;
  };

  // Joins the cluster. Fails with `unavailable` or `refused` and the reason.
  [[nodiscard]] static tl::expected<std::unique_ptr<Node>, Error> start(const Options& options);
  // Leaves the cluster. What the program still holds is lost. Clients that have connected to this
  // node move to another one, or are told to stop: that takes up to five seconds and the lock
  // delay.
  ~Node() override;

  [[nodiscard]] const std::string& name() const noexcept;
  // Where it listens, if it does.
  [[nodiscard]] const std::string& client_address() const noexcept;
  [[nodiscard]] const std::string& http_address() const noexcept;

  [[nodiscard]] tl::expected<Lock, Error> open(std::string_view name) override;
  [[nodiscard]] tl::expected<Lock, Error> open_election(std::string_view name) override;
  [[nodiscard]] tl::expected<std::optional<Leader>, Error> leader(
      std::string_view election) override;
  [[nodiscard]] tl::expected<std::unique_ptr<Observation>, Error> observe(
      std::string_view election, LeaderChanged changed) override;
  void close(Lock lock) noexcept override;
  using Service::acquire;
  [[nodiscard]] tl::expected<Grant, Error> acquire(Lock lock, const Request& request,
                                                   std::stop_token stop) override;
  void release(Hold hold, std::uint64_t fence) noexcept override;
  [[nodiscard]] tl::expected<void, Error> renew(Hold hold, std::uint64_t fence,
                                                std::chrono::milliseconds ttl) override;
  [[nodiscard]] std::string_view name(Hold hold) const noexcept override;
  [[nodiscard]] bool lost(Hold hold, std::uint64_t fence) const noexcept override;
  [[nodiscard]] std::stop_token lost_token(Hold hold, std::uint64_t fence) override;

 private:
  class Implementation;
  explicit Node(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace turno

// A session with a node in another process.
//
// One connection and one thread that reads it. When the connection breaks, everything that is held
// is lost, every wait ends with `disconnected`, and the next acquire() connects again.
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
#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

// Who holds a lock, as the node sees it. If `kept_for` or `told_by` is not empty no session is
// known to hold it, and there is no session, client or fence.
struct Holder {
  std::string node;
  std::string session;
  std::string client;  // the name that the session gave itself, if any
  std::uint64_t fence = 0;
  std::chrono::milliseconds held{0};
  std::uint64_t waiting = 0;  // how many wait for it

  std::string kept_for;  // nodes that died: their clients may still use it
  std::chrono::milliseconds free_in{0};
  // `node` does not answer. It has told this node, `held` ago, that it has the lock.
  std::string told_by;
};

class Client final : public Service {
 public:
  // How the node calls itself and this session.
  struct Identity {
    std::string node;
    std::string session;
  };
  struct Options {
    std::string name;  // shown to others who ask who holds a lock; no spaces
    std::chrono::milliseconds connect_timeout{5000};
    // A node that lives answers much sooner. A request whose time is over waits so long for the
    // node to confirm that nothing is left behind.
    std::chrono::milliseconds answer_timeout{2000};
  };

  // The address is host:port, [ipv6]:port, unix:PATH or the path of a socket (with a slash in it).
  [[nodiscard]] static tl::expected<std::unique_ptr<Client>, Error> connect(
      std::string_view address, Options options);
  [[nodiscard]] static tl::expected<std::unique_ptr<Client>, Error> connect(
      std::string_view address) {
    return connect(address, Options());
  }
  // Ends the session: what it holds is released. REQUIRES: no thread is inside a call, and it is
  // not called from a callback of lost_token().
  ~Client() override;

  // Of the last connection: another one is another session.
  [[nodiscard]] Identity identity() const;
  // Nothing if the lock is free. The node asks all others, so that it can take a while. If one of
  // them does not answer, and none of the others has the lock, the error is `unavailable`.
  [[nodiscard]] tl::expected<std::optional<Holder>, Error> who(std::string_view name);

  using Service::acquire;
  [[nodiscard]] tl::expected<Lock, Error> open(std::string_view name) override;
  void close(Lock lock) noexcept override;
  [[nodiscard]] tl::expected<Grant, Error> acquire(Lock lock, const Request& request,
                                                   std::stop_token stop) override;
  void release(Hold hold, std::uint64_t fence) noexcept override;
  [[nodiscard]] tl::expected<void, Error> renew(Hold hold, std::uint64_t fence,
                                                std::chrono::milliseconds ttl) override;
  [[nodiscard]] std::string_view name(Hold hold) const noexcept override;
  [[nodiscard]] bool lost(Hold hold, std::uint64_t fence) const noexcept override;
  [[nodiscard]] std::stop_token lost_token(Hold hold, std::uint64_t fence) override;

 private:
  class Session;
  explicit Client(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

}  // namespace turno

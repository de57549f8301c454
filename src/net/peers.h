// All peers of a node: a link to each, and the frames that come from each.
//
// Whoever connects must first say hello with the cluster's key; anything else is counted, logged
// and refused. Before that it costs a small buffer, and so many may wait with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/acceptor.h"
#include "net/link.h"
#include "net/log.h"
#include "net/loop.h"
#include "wire/frame.h"

namespace turno::net {

class Peers {
 public:
  using Peer = net::Peer;
  struct Handlers {
    // A frame of this peer, in order and once. False: not now. The connection is closed then, and
    // the peer will send the frame again.
    std::function<bool(std::uint64_t from, const wire::Frame&)> frame;
    // The connection to or from this peer broke: it may be dead.
    std::function<void(std::uint64_t id)> trouble;
    // Frames to this peer were lost, the last of this epoch; it hears what is sent in later ones.
    std::function<void(std::uint64_t id, std::uint32_t epoch)> gap;
  };
  struct Options {
    Loop::Clock::duration time_to_greet = std::chrono::seconds(5);  // for who connects
    std::size_t most_strangers = 128;  // connections that have not said hello; then the oldest goes
    std::size_t most_backlog = Link::usual_backlog;  // of one link, in bytes
    Loop::Clock::duration ping_every = std::chrono::seconds(1);
  };

  static tl::expected<std::unique_ptr<Peers>, Failure> listen(Loop& loop, std::string_view address,
                                                              Handlers handlers,
                                                              const Options& options);
  static tl::expected<std::unique_ptr<Peers>, Failure> listen(Loop& loop, std::string_view address,
                                                              Handlers handlers) {
    return listen(loop, address, std::move(handlers), Options());
  }
  Peers(Loop& loop, Handlers handlers, const Options& options);
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers();

  [[nodiscard]] const std::string& address() const { return acceptor_->address(); }
  // Before this is called, nobody is let in.
  void introduce(Identity self) { self_ = self; }
  // Who there is now. Links to others are closed.
  void set(const std::vector<Peer>& peers);
  // Of a peer that was set; it lives until the next set() without it, and as long as somebody holds
  // it. Any thread may let go of it last.
  [[nodiscard]] std::shared_ptr<Link> link(std::uint64_t id) const;

  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  class Inbound;
  struct Known {
    Peer peer;
    std::shared_ptr<Link> link;
  };

  void admit(Fd socket);
  void ping();
  void forget_stranger(Inbound& inbound);
  void remove(Inbound& inbound);
  void supersede(std::uint64_t id);
  void refuse(Inbound& inbound, const std::string& reason);
  void report(std::uint64_t id, std::string_view reason);

  Loop& loop_;
  const Handlers handlers_;
  const Options options_;
  Identity self_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unordered_map<std::uint64_t, Known> known_;
  std::unordered_map<std::uint64_t, Count> received_;  // by sender
  std::unordered_map<Inbound*, std::unique_ptr<Inbound>> inbound_;
  std::list<Inbound*> strangers_;  // those who have not said hello, the oldest first
  std::uint64_t refused_ = 0;
  log::Limiter refusals_;
  Loop::Timer ping_timer_;
};

}  // namespace turno::net

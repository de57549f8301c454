// All peers of a node: a link to each, and the frames that come from each.
//
// Whoever connects must first say hello with the cluster's key; anything else is logged and
// refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/acceptor.h"
#include "net/link.h"
#include "net/loop.h"
#include "wire/frame.h"

namespace turno::net {

class Peers {
 public:
  struct Peer {
    std::uint64_t id = 0;
    std::string name, address;
    Loop::Clock::duration latency{};  // added to every frame, for experiments
  };
  struct Handlers {
    // A frame of this peer, in order and once.
    std::function<void(std::uint64_t from, const wire::Frame&)> frame;
    // The connection to or from this peer broke: it may be dead.
    std::function<void(std::uint64_t id)> trouble;
  };

  // Who connects has `time_to_greet` to say hello.
  static tl::expected<std::unique_ptr<Peers>, Failure> listen(
      Loop& loop, std::string_view address, Handlers handlers,
      Loop::Clock::duration time_to_greet = std::chrono::seconds(5));
  Peers(Loop& loop, Handlers handlers, Loop::Clock::duration time_to_greet);
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers();

  [[nodiscard]] const std::string& address() const { return acceptor_->address(); }
  // Before this is called, nobody is let in.
  void introduce(Identity self) { self_ = self; }
  // Who there is now. Links to others are closed.
  void set(const std::vector<Peer>& peers);
  // Of a peer that was set; it lives until the next set() without it.
  [[nodiscard]] std::shared_ptr<Link> link(std::uint64_t id) const;

  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  class Inbound;
  struct Known {
    Peer peer;
    std::shared_ptr<Link> link;
  };

  void admit(Fd socket);
  void remove(Inbound& inbound);
  void supersede(std::uint64_t id);
  void refuse(Inbound& inbound, const std::string& reason);
  void report(std::uint64_t id, std::string_view reason);

  Loop& loop_;
  const Handlers handlers_;
  const Loop::Clock::duration time_to_greet_;
  Identity self_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unordered_map<std::uint64_t, Known> known_;
  std::unordered_map<std::uint64_t, std::uint64_t> received_;  // frames, by sender
  std::unordered_map<Inbound*, std::unique_ptr<Inbound>> inbound_;
  std::uint64_t refused_ = 0;
};

}  // namespace turno::net

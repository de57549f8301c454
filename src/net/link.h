// The way to one peer: frames arrive there in order and exactly once, as long as both live, also if
// the connection breaks in between.
//
// Frames are counted. The receiver says how many it has; what it has not is kept and, after a new
// connection, sent again. The sender dials. Writes of one round of the loop go out together.
//
// Thread safety: send() from any thread, the rest from the loop's.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "net/fd.h"
#include "net/loop.h"
#include "wire/frame.h"

namespace turno::net {

// How a node makes itself known to a peer.
struct Identity {
  std::uint64_t id = 0;
  std::uint64_t key = 0;  // of the cluster
};

// The frames that links use for themselves. Other kinds are for those above.
enum class LinkKind : std::uint8_t { hello = 0, welcome = 1, acknowledge = 2, first_free = 3 };

// Writes the frame that opens a link, and reads it. Nothing: it is not one.
void write_hello(std::string& out, const Identity& self);
struct Hello {
  std::uint64_t id = 0, key = 0;
};
std::optional<Hello> read_hello(const wire::Frame& frame);

class Link final : private Loop::Watcher {
 public:
  // `trouble` is called whenever the connection fails or ends.
  Link(Loop& loop, Identity self, std::string address, Loop::Clock::duration latency,
       std::function<void(const std::string&)> trouble);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  template <class Body>
  void send(std::uint32_t epoch, std::uint64_t lock, std::uint8_t kind, Body&& body) {
    const std::scoped_lock guard(mutex_);
    const auto before = bytes_.size();
    wire::write_frame(bytes_, epoch, lock, kind, std::forward<Body>(body));
    added(bytes_.size() - before);
  }

  [[nodiscard]] bool up() const;
  [[nodiscard]] std::uint64_t reconnections() const { return reconnections_; }
  // Frames that the peer has not acknowledged.
  [[nodiscard]] std::size_t backlog() const;

 private:
  enum class State : std::uint8_t { down, connecting, greeting, up };
  void added(std::size_t size);
  void dial();
  void ready(std::uint32_t events) override;
  void greet();
  void read();
  void welcome(std::uint64_t received);
  void acknowledge(std::uint64_t received);
  void fail(const std::string& reason);
  void write();  // REQUIRES: mutex_ is held
  void wait_for_latency();

  Loop& loop_;
  const Identity self_;
  const std::string address_;
  const Loop::Clock::duration latency_;
  const std::function<void(const std::string&)> trouble_;

  mutable std::mutex mutex_;  // of the rest, but for what only the loop touches
  State state_ = State::down;
  Fd socket_;
  std::string bytes_;                         // of the frames from first_ on, without head_
  std::size_t head_ = 0;                      // acknowledged bytes at its beginning
  std::size_t sent_ = 0;                      // how far it was written to this connection
  std::deque<std::uint32_t> sizes_;           // of those frames
  std::uint64_t first_ = 0;                   // frames that were acknowledged
  std::deque<Loop::Clock::time_point> held_;  // with a latency: when the last frames may go
  std::size_t held_bytes_ = 0;                // of those frames
  bool flush_planned_ = false, wants_out_ = false;

  // The loop's own.
  wire::FrameReader reader_;
  Loop::Timer redial_, latency_timer_;
  std::chrono::milliseconds pause_{0};
  std::atomic<std::uint64_t> reconnections_{0};
  std::shared_ptr<Link*> alive_;  // for work that was put off
};

}  // namespace turno::net

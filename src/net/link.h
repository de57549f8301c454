// The way to one peer: frames arrive there in order and exactly once, as long as both live, also if
// the connection breaks in between.
//
// Frames are counted. The receiver says how many it has; what it has not is kept and, after a new
// connection, sent again. The sender dials. Writes of one round of the loop go out together.
//
// A link keeps a bounded number of bytes that the peer has not acknowledged, besides those of the
// last surge: what a change of the view makes a node say at once. If there are more, or
// if the peer's count cannot be right, the link starts anew: with a new *generation* of frames that
// are counted from 0. What was not acknowledged is dropped, and so is what is still appended of the
// same epoch, so that the peer has a beginning of an epoch's frames and never frames behind a hole.
// The owner is told of the gap when the peer has welcomed the new generation, and asks for a new
// epoch.
//
// Who appends a frame waits for no system call: appended frames have a mutex of their own, and are
// written later, by the loop at the end of its round or by whoever calls flush().
//
// The peer is heard of at least as often as it is pinged, if it is well. What follows from its
// silence is for people: a link waits for its peer for ever.
//
// Thread safety: append(), send(), flush(), up() and backlog() from any thread, the rest from the
// loop's.
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
#include <vector>

#include "net/byte_stream.h"
#include "net/log.h"
#include "net/loop.h"
#include "wire/frame.h"

namespace turno::net {

// How a node makes itself known to a peer.
struct Identity {
  std::uint64_t id = 0;
  std::uint64_t key = 0;  // of the cluster
};

// The frames that links use for themselves. Other kinds are for those above.
// `ping` says nothing and is acknowledged like any other frame: who does not acknowledge it is not
// well.
enum class LinkKind : std::uint8_t {
  hello = 0,
  welcome = 1,
  acknowledge = 2,
  first_free = 3,
  ping = 255
};

// The frame that opens a link.
struct Hello {
  std::uint64_t id = 0, key = 0;  // of the sender
  std::uint64_t to = 0;           // the member for whom it is
  std::uint64_t generation = 0;   // of the frames that the sender counts
};
inline constexpr std::size_t longest_hello = 60;  // as the length in its header says
void write_hello(std::string& out, const Hello& hello);
// Nothing: it is not one.
std::optional<Hello> read_hello(const wire::Frame& frame);

// What the receiver answers: frames of this generation that it has.
struct Count {
  std::uint64_t generation = 0, received = 0;
};
void write_count(std::string& out, LinkKind kind, const Count& count);
std::optional<Count> read_count(const wire::Frame& frame);

// Generations grow. Compared as the numbers on a circle, so that each has a newer one, whatever
// somebody claims the last one was.
[[nodiscard]] inline bool older(std::uint64_t generation, std::uint64_t other) {
  return generation != other && other - generation < std::uint64_t{1} << 63;
}

// The other end of a link.
struct Peer {
  std::uint64_t id = 0;
  std::string name, address;
  Loop::Clock::duration latency{};  // added to every frame, for experiments
  Loop::Clock::duration spacing{};  // of frames that arrive, as on a narrow line; for experiments
  std::uint8_t spaced_below = 255;  // kinds of frames that are so spaced
};

class Link final : private Loop::Watcher {
 public:
  static constexpr std::size_t usual_backlog = std::size_t{64} << 20;
  struct Handlers {
    // The connection failed or ended.
    std::function<void(const std::string& reason)> trouble;
    // Frames of this epoch and perhaps of earlier ones were lost. The peer hears what is sent in
    // later ones.
    std::function<void(std::uint32_t epoch)> gap;
  };

  // Keeps at most `most_backlog` bytes that the peer has not acknowledged.
  Link(Loop& loop, Identity self, Peer peer, Handlers handlers,
       std::size_t most_backlog = usual_backlog);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  // Queues a frame. True: the caller should flush() soon, with nothing locked that others need. The
  // loop's thread never has to: what it appends is written at the end of its round.
  template <class Body>
  [[nodiscard]] bool append(std::uint32_t epoch, std::uint64_t lock, std::uint8_t kind,
                            Body&& body) {
    const std::scoped_lock guard(mutex_);
    if (epoch < open_from_) return false;
    const auto before = fresh_.size();
    wire::write_frame(fresh_, epoch, lock, kind, std::forward<Body>(body));
    return added(epoch, kind, fresh_.size() - before);
  }
  // What is appended in between belongs to a surge, and is kept whatever its size.
  void begin_surge();
  void end_surge();
  // Writes what was appended, as far as the connection takes it; the loop writes the rest.
  void flush();
  // Queues a frame and leaves the writing to the loop: slower than flush() from other threads.
  template <class Body>
  void send(std::uint32_t epoch, std::uint64_t lock, std::uint8_t kind, Body&& body) {
    if (append(epoch, lock, kind, std::forward<Body>(body))) post_flush();
  }

  // Makes the peer say something, unless it is already to acknowledge something.
  void ping();
  // Since the peer was last heard of; at first, since the link was made.
  [[nodiscard]] Loop::Clock::duration quiet_for() const { return Loop::Clock::now() - heard_; }

  [[nodiscard]] bool up() const;
  [[nodiscard]] std::uint64_t reconnections() const { return reconnections_; }
  // Frames that the peer has not acknowledged, and their bytes.
  [[nodiscard]] std::size_t backlog() const;
  [[nodiscard]] std::size_t backlog_bytes() const;
  // Times that frames were lost.
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }

 private:
  enum class State : std::uint8_t { down, connecting, greeting, up };
  bool added(std::uint32_t epoch, std::uint8_t kind, std::size_t size);  // REQUIRES: mutex_ is held
  void drop_fresh();                                                     // REQUIRES: mutex_ is held
  void post_flush();
  void collect();  // REQUIRES: writing_ is held
  void write();    // REQUIRES: writing_ is held
  void dial();
  void ready(std::uint32_t events) override;
  void greet();
  void read();
  bool take(LinkKind kind, const Count& count);
  void welcome();                            // REQUIRES: writing_ is held
  void acknowledge(std::uint64_t received);  // REQUIRES: writing_ is held
  void start_anew(std::uint64_t generation, const std::string& reason);
  void fail(const std::string& reason);
  void wait_for_latency();

  Loop& loop_;
  const Identity self_;
  const Peer peer_;
  const Handlers handlers_;
  const std::size_t most_backlog_;

  // Frames that were appended and not yet collected for writing. Nobody who holds mutex_ makes a
  // system call, but to wake the loop in rare cases.
  mutable std::mutex mutex_;
  std::string fresh_;
  std::vector<std::uint32_t> fresh_sizes_;
  std::deque<Loop::Clock::time_point> due_;      // with a latency: when the last of them may go
  Loop::Clock::time_point last_due_{};           // of all that had one
  std::size_t backlog_ = 0, backlog_bytes_ = 0;  // not acknowledged, fresh or not
  std::size_t surge_ = 0;                        // bytes of the last surge
  bool surging_ = false;
  std::uint32_t newest_epoch_ = 0;  // of all frames that were appended
  std::uint64_t open_from_ = 0;     // frames of earlier epochs are dropped

  // The connection, and the frames that it carries. Locked before mutex_, and while it is written.
  mutable std::mutex writing_;
  State state_ = State::down;  // changed by the loop's thread alone
  ByteStream stream_;
  std::string bytes_;                // of the frames from first_ on, behind head_
  std::size_t head_ = 0;             // acknowledged bytes at its beginning
  std::size_t sent_ = 0;             // how far it was written to this connection
  std::deque<std::uint32_t> sizes_;  // of those frames
  std::uint64_t first_ = 0;          // frames that were acknowledged
  bool wants_out_ = false;

  // Whether it makes sense to flush: up, and not waiting for room. Set before frames are collected,
  // so that a frame is either collected or appended by one who sees it.
  std::atomic<bool> writable_{false};
  std::atomic<bool> flush_posted_{false};

  // The loop's own.
  std::uint64_t generation_;
  bool gap_ = false;  // frames were lost, and the peer has not answered since
  std::atomic<std::uint64_t> gaps_{0};
  log::Limiter warnings_;
  Loop::Clock::time_point heard_ = Loop::Clock::now();  // of the peer
  bool flush_planned_ = false;
  wire::FrameReader reader_;
  Loop::Timer redial_, latency_timer_;
  std::chrono::milliseconds pause_{0};
  std::atomic<std::uint64_t> reconnections_{0};
  std::shared_ptr<Link*> alive_;  // for work that was put off
};

}  // namespace turno::net

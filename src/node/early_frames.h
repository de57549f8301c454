// Frames of views that this node has not adopted yet, kept until it has. Whatever peers send, they
// take a bounded room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wire/frame.h"

namespace turno::node {

class EarlyFrames {
 public:
  struct Limits {
    std::uint32_t views = 16;                       // how far ahead of this node's view
    std::size_t bytes = std::size_t{16} << 20;      // of all
    std::size_t strangers = std::size_t{64} << 10;  // of those who are no members of it (yet)
  };
  struct Early {
    std::uint64_t from = 0;
    std::uint32_t epoch = 0;
    std::uint64_t lock = 0;
    std::uint8_t kind = 0;
    std::string body;

    [[nodiscard]] wire::Frame frame() const { return {epoch, lock, kind, body}; }
    [[nodiscard]] std::size_t size() const { return sizeof(Early) + body.size(); }
  };

  EarlyFrames() : EarlyFrames(Limits()) {}
  explicit EarlyFrames(const Limits& limits) : limits_(limits) {}

  // False: it is not kept. Its sender must send it again, for a view with holes would mislead the
  // algorithms.
  [[nodiscard]] bool keep(std::uint64_t from, bool member, std::uint32_t now,
                          const wire::Frame& frame) {
    if (frame.epoch - now > limits_.views) return false;
    Early early{from, frame.epoch, frame.lock, frame.kind, {}};
    const auto size = early.size() + frame.body.size();
    if (size > limits_.bytes - bytes_) return false;
    if (!member && size > limits_.strangers - strangers_) return false;
    early.body = frame.body;
    bytes_ += size;
    if (!member) strangers_ += size;
    kept_.push_back(std::move(early));
    return true;
  }

  // All of them, in the order in which they came. None is left.
  [[nodiscard]] std::vector<Early> take() {
    bytes_ = strangers_ = 0;
    return std::exchange(kept_, {});
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Limits limits_;
  std::vector<Early> kept_;
  std::size_t bytes_ = 0, strangers_ = 0;  // of the kept ones
};

}  // namespace turno::node

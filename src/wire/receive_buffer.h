// Bytes that arrived and wait to be parsed. The network writes straight into it, and parsers look
// at it without copying. Moving bytes about costs amortised constant time a byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/assert.h"

namespace turno::wire {

class ReceiveBuffer {
 public:
  // Room for `size` more bytes, of which commit() says how many were used. What readable() gave
  // before is no longer valid.
  std::span<char> prepare(std::size_t size) {
    if (first_ == last_) {
      first_ = last_ = 0;
      if (capacity_ > 4 * kept && size <= kept) reallocate(kept);  // one large frame is no habit
    }
    if (capacity_ - last_ < size) make_room(size);
    return {bytes_.get() + last_, size};
  }
  // REQUIRES: size is not more than what was prepared.
  void commit(std::size_t size) {
    TURNO_ASSERT(size <= capacity_ - last_);
    last_ += size;
  }
  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(prepare(bytes.size()).data(), bytes.data(), bytes.size());
    commit(bytes.size());
  }

  [[nodiscard]] std::string_view readable() const {
    return {bytes_.get() + first_, last_ - first_};
  }
  // The bytes themselves stay where they are until the next prepare().
  void consume(std::size_t size) {
    TURNO_ASSERT(size <= last_ - first_);
    first_ += size;
  }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  static constexpr std::size_t kept = std::size_t{64}
                                      << 10;  // an empty buffer keeps up to 4 times it

 private:
  void make_room(std::size_t size) {
    const auto live = last_ - first_;
    // Moving no more bytes than were consumed since the last move keeps the moves cheap.
    if (first_ >= live && capacity_ - live >= size) {
      std::memmove(bytes_.get(), bytes_.get() + first_, live);
      first_ = 0;
      last_ = live;
      return;
    }
    reallocate(std::max(live + size, 2 * live));
  }
  void reallocate(std::size_t capacity) {
    const auto live = last_ - first_;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (live > 0) std::memcpy(bytes.get(), bytes_.get() + first_, live);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
    first_ = 0;
    last_ = live;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t first_ = 0;  // of the readable bytes
  std::size_t last_ = 0;   // behind them
};

}  // namespace turno::wire

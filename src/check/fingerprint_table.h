// The visited worlds: from a 64-bit fingerprint to the number of the world, in order of discovery.
// Open addressing with linear probing; `prefetch` some keys, then `insert` them.
//
// Two different worlds with one fingerprint would be taken for one. With n worlds the chance that
// any two collide is about n^2 / 2^65: three in a million for ten million worlds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/assert.h"

namespace turno::check {

class FingerprintTable {
 public:
  FingerprintTable() { resize(1 << 12); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  void prefetch(std::uint64_t fingerprint) const {
    __builtin_prefetch(&slots_[fingerprint & mask_]);
  }

  // The number of the world, and whether it is new.
  std::pair<std::uint32_t, bool> insert(std::uint64_t fingerprint) {
    if (size_ * 5 >= slots_.size() * 3) grow();
    auto at = fingerprint & mask_;
    while (slots_[at].number != 0) {
      if (slots_[at].fingerprint() == fingerprint) return {slots_[at].number - 1, false};
      at = (at + 1) & mask_;
    }
    TURNO_ASSERT(size_ < 0xfffffffe);
    slots_[at] = Slot(fingerprint, static_cast<std::uint32_t>(size_ + 1));
    return {static_cast<std::uint32_t>(size_++), true};
  }

 private:
  struct Slot {  // 12 bytes
    std::uint32_t low = 0, high = 0;
    std::uint32_t number = 0;  // one more than the world's; 0: free
    Slot() = default;
    Slot(std::uint64_t fingerprint, std::uint32_t n)
        : low(static_cast<std::uint32_t>(fingerprint)),
          high(static_cast<std::uint32_t>(fingerprint >> 32)),
          number(n) {}
    [[nodiscard]] std::uint64_t fingerprint() const { return (std::uint64_t{high} << 32) | low; }
  };

  void resize(std::size_t count) {
    slots_.assign(count, {});
    mask_ = count - 1;
  }

  void grow() {
    auto old = std::move(slots_);
    resize(old.size() * 2);
    for (const auto& slot : old) {
      if (slot.number == 0) continue;
      auto at = slot.fingerprint() & mask_;
      while (slots_[at].number != 0) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace turno::check

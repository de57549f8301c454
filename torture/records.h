// What clients note down, in memory that survives them: shared between the processes of a run.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <new>
#include <span>

#include "judge.h"

namespace turno::torture {

inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The notes of one client process.
struct Records {
  static constexpr std::uint32_t most = 200'000;

  std::atomic<std::uint32_t> count{0};
  std::atomic<std::uint32_t> timeouts{0}, cancelled{0}, lost{0}, disconnected{0}, errors{0};
  std::atomic<bool> finished{false};
  char last_error[256] = {};
  Hold holds[most];
};

// A whole run.
struct Board {
  static constexpr std::size_t most_clients = 64;
  enum class Phase : int { running, last_round, over };

  std::atomic<Phase> phase{Phase::running};
  std::atomic<std::uint32_t> nodes{0};  // that clients may connect to
  char sockets[32][128] = {};
  std::atomic<bool> alive[32] = {};
  Records clients[most_clients];

  static Board* make() {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // All zero is a valid board; constructing it would touch every page.
    return memory == MAP_FAILED ? nullptr : static_cast<Board*>(memory);
  }
};

}  // namespace turno::torture

// What clients note down, in memory that survives them: shared between the processes of a run.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <new>

#include "judge.h"

namespace turno::torture {

inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The notes of one client process.
struct Records {
  static constexpr std::uint32_t most = 200'000, most_waits = 10'000;
  // A wait that was given up is noted if it was longer.
  static constexpr std::int64_t short_wait = 50'000'000;

  std::atomic<std::uint32_t> count{0}, wait_count{0};
  std::atomic<std::uint32_t> timeouts{0}, cancelled{0}, lost{0}, renewed{0}, disconnected{0},
      errors{0};
  std::atomic<std::uint32_t> node{0};  // to which it is connected
  // The wait that goes on: for this lock, since then. 0: none.
  std::atomic<std::uint32_t> wanted{0};
  std::atomic<std::int64_t> waits_since{0};
  char last_error[256] = {};
  Wait waits[most_waits];
  Hold holds[most];
};

// A whole run.
struct Board {
  static constexpr std::size_t most_clients = 256, most_nodes = 256;
  enum class Phase : int { running, last_round };

  std::atomic<Phase> phase{Phase::running};
  std::atomic<std::uint32_t> nodes{0};  // that were ever started
  char sockets[most_nodes][128] = {};
  std::atomic<bool> alive[most_nodes] = {};  // clients may connect to it
  Records clients[most_clients];

  struct Unmap {
    void operator()(Board* board) const { ::munmap(board, sizeof(Board)); }
  };
  static std::unique_ptr<Board, Unmap> make() {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // All zero is a valid board; constructing it would touch every page.
    return std::unique_ptr<Board, Unmap>(static_cast<Board*>(memory));
  }
};

}  // namespace turno::torture

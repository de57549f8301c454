// What the processes of a run share: memory in which everybody sees who listens where, how much is
// still to happen, and how many have got in. It tells the parent when to end a run; it judges
// nothing.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <system_error>

namespace turno::field {

struct Board {
  static constexpr std::size_t most_hosts = 1024;

  struct Cell {
    std::atomic<std::uint32_t> port{0};    // where the process listens
    std::atomic<std::int64_t> pending{0};  // things that will happen at its nodes
    std::atomic<std::uint64_t> steps{0};   // of its loop; 0: it has not begun
  };
  std::atomic<std::int64_t> start_ns{0};  // on the monotonic clock; 0: not yet
  std::atomic<std::uint32_t> ready{0};    // processes that listen
  std::atomic<std::uint64_t> entries{0}, sessions{0}, last_fence{0};
  std::array<Cell, most_hosts> cells;
};

class SharedBoard {
 public:
  SharedBoard() {
    void* memory =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    board_ = new (memory) Board;
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  ~SharedBoard() { ::munmap(board_, sizeof(Board)); }
  Board& operator*() const { return *board_; }
  Board* operator->() const { return board_; }

 private:
  Board* board_;
};

}  // namespace turno::field

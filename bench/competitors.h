// What locks are compared with, as processes of their own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace turno::bench {

// A program that runs until this goes.
class Program {
 public:
  Program(const std::vector<std::string>& words, const std::filesystem::path& log);
  Program(Program&& other) noexcept : pid_(other.pid_) { other.pid_ = 0; }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Until it ends by itself: its exit status.
  int wait();

 private:
  pid_t pid_ = 0;
};

// Several processes that each do `work(number, go_on, count)` until `go_on` becomes false: the sum
// of their counts per second.
struct Shared {
  std::atomic<std::uint32_t> ready{0};
  std::atomic<bool> start{false}, go_on{true};
  std::atomic<std::uint64_t> counts[8] = {};
  std::atomic<std::size_t> last{0};  // who was inside before

  // Called inside the lock: counts if somebody else was inside before.
  void entered(std::size_t number) {
    if (last.load(std::memory_order_relaxed) == number) return;
    last.store(number, std::memory_order_relaxed);
    add(number);
  }
  void add(std::size_t number) {
    auto& count = counts[number];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};
double rate_of_processes(std::size_t processes, std::chrono::milliseconds time,
                         const std::function<void(std::size_t, Shared&)>& work);

// A token that goes round five processes over TCP: hops per second.
double token_ring(std::size_t processes, std::chrono::milliseconds time);
// flock(2) on one file. One process: pairs of lock and unlock; several: how often it changes hands.
double file_locks(std::size_t processes, const std::filesystem::path& file,
                  std::chrono::milliseconds time);

}  // namespace turno::bench

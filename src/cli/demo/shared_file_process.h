// One process of the demonstration: it reads, computes and appends, in turn with the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace turno::cli {

struct SharedFileProcess {
  std::string file;
  std::string node;  // where to get the lock; empty: without one
  std::string lock;
  std::size_t process = 0, operations = 0;
  std::uint64_t seed = 0;
  std::int64_t hold_ms = 0;  // between reading and writing

  // Says on its standard input, a socket, that it is ready, and begins when that ends, so that all
  // begin at once. The exit status; what went wrong goes to standard error.
  [[nodiscard]] int run() const;
};

}  // namespace turno::cli

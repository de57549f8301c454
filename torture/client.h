// The random life of one client process.
#pragma once

#include <chrono>
#include <cstdint>

#include "records.h"
#include "things.h"

namespace turno::torture {

struct ClientOptions {
  std::uint32_t number = 0;
  std::uint64_t seed = 1;
  std::uint32_t locks = 200, hot_locks = 3;  // half of the requests are for the hot ones
  Things things{};                           // that they are
  // One in so many holds is a long one.
  std::uint32_t long_holds = 20;
  std::chrono::microseconds longest_hold{2000}, longest_long_hold{60'000};
  // In the last round a client takes the hot locks and its part of the others.
  std::uint32_t part = 0, parts = 1;
  std::chrono::milliseconds last_patience{5000};  // for each lock, when all is quiet again
};

// Until the board says that it is over. The exit status of the process.
int live(Board& board, const ClientOptions& options);

}  // namespace turno::torture

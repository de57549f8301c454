// The random life of one client process.
#pragma once

#include <chrono>
#include <cstdint>

#include "records.h"

namespace turno::torture {

struct ClientOptions {
  std::uint32_t number = 0;
  std::uint64_t seed = 1;
  std::uint32_t locks = 3;
  std::chrono::microseconds longest_hold{2000};
  std::chrono::milliseconds last_patience{5000};  // for each lock, when all is quiet again
};

// Until the board says that it is over. The exit status of the process.
int live(Board& board, const ClientOptions& options);

}  // namespace turno::torture

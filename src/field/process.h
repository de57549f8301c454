// One process of a run: a host, its connections and its records.
#pragma once

#include <cstdint>
#include <string>

#include "field/board.h"
#include "field/host.h"
#include "net/fd.h"

namespace turno::field {

struct Life {
  std::size_t host = 0;
  net::Fd news;              // a pipe that tells of crashes
  int records = -1;          // a file that outlives the process
  int stable = -1;           // stable storage, which does too
  std::uint64_t number = 0;  // how often it has come back
};

// Never returns: it is killed.
[[noreturn]] void live(const Cast& cast, const sim::Options& options, const Layout& layout,
                       double scale, Board& board, Life life);

}  // namespace turno::field

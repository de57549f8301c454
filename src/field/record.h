// What a process writes down of each step of its nodes, at once, so that it is there when the
// process is killed. The judge reads all of them afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock/vector_clock.h"
#include "field/actor.h"

namespace turno::field {

struct Record {
  struct Sent {
    NodeId to;
    std::uint8_t kind = 0;
    Carries carries = Carries::other;
    bool preempts = false, declares = false;
    Time delay = 0;     // as drawn
    std::string bytes;  // if there is a trace
  };

  Time time = 0;  // as all times here: of the run, not scaled
  Time lag = 0;   // by how much it happened late
  NodeId node;
  EventKind kind = EventKind::start;
  bool lost = false;          // an arrival that found its node busy, and nothing else
  NodeId from;                // of a message; who is suspected
  std::uint64_t message = 0;  // which of its sender's
  std::string bytes;          // of the message, if there is a trace
  std::uint32_t number = 0;   // which timer, which choice
  std::string choice;         // its name, if there is a trace
  std::vector<Sent> sends;
  std::optional<Fence> fence;  // the user gets in
  std::vector<Unit> units;
  Wish wish;                       // of a request
  Time since = 0;                  // of a request: when it came
  std::vector<NodeId> suspicions;  // new ones
  std::string state;               // if it changed, and matters
  VectorClock clock;               // if there is one
};

// Appended, with its length.
void write(const Record& record, std::string& out);
// All that are whole; a process may have been killed in the middle of the last.
std::vector<Record> read_records(std::string_view bytes);

}  // namespace turno::field

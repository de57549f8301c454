// Judges exclusion without a common clock: whoever enters after another must know, by the messages
// that reached it, that the other has left. Vector clocks tell.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "field/record.h"

namespace turno::field {

// What is wrong, or nothing. Users of one thing, in the order of their fences, must each have left
// before the next entered: the one lock, each permit or instance by its number, each two groups of
// a room. Grants of semaphores that name no permit are not judged.
// REQUIRES: the records have clocks, and those of a node are in its order.
std::string unordered_entries(Primitive primitive, const Setup& setup,
                              std::span<const Record> records);

// The records in an order of time in which nothing is received before it is sent: where clocks
// disagree, what comes too early is moved to just after its cause, and what follows it at that node
// too. REQUIRES: those of a node are in its order; nobody came back.
struct InCausalOrder {
  std::vector<Record> records;  // without those that wait for a cause that nobody wrote down
  std::string violation;        // that there are such
};
InCausalOrder in_causal_order(std::vector<Record> records, std::size_t nodes);

}  // namespace turno::field

// Clients that do nothing but ask: as many connections as wanted in one thread, each with its own
// cycle of requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace turno::bench {

// What one connection does over and over: writes each request and waits for its replies. A cycle
// counts as one.
struct Request {
  std::string bytes;  // RESP
  std::uint32_t replies = 1;
};
struct Cycle {
  std::vector<Request> requests;
  std::string before = {};  // written once, with one reply
};

// How many cycles all connections together finish in a second.
double cycles_per_second(const std::vector<std::string>& addresses,
                         const std::vector<Cycle>& cycles, std::chrono::milliseconds time);

// One RESP command.
std::string command(const std::vector<std::string>& words);
// Asks once and returns the reply's text (of a bulk or simple reply).
std::string ask(const std::string& address, const std::vector<std::string>& words);

}  // namespace turno::bench

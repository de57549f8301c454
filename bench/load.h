// Clients of RESP that do nothing but ask: each connection has its own cycle of requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver.h"
#include "net/fd.h"
#include "wire/resp.h"

namespace turno::bench {

// A connection that writes and reads replies. Throws if the server does not go along.
class RespConnection {
 public:
  explicit RespConnection(const std::string& address);
  void write(const std::string& bytes) const;
  // Takes what has come; then next() gives the replies, one after the other, until there is none.
  void receive();
  wire::Reply* next();
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  net::Fd socket_;
  wire::ReplyParser parser_;
};

// What one connection does over and over: writes each request and waits for its replies. A cycle
// counts as one.
struct Request {
  std::string bytes;  // RESP
  std::uint32_t replies = 1;
  // A reply of null or 0 means "not now": it is asked again after this time.
  std::optional<std::chrono::milliseconds> again = {};
};
struct Cycle {
  std::vector<Request> requests;
  std::string before = {};  // written once, with one reply
};

// The i-th does the i-th cycle at the address i modulo how many there are.
std::vector<std::unique_ptr<Talker>> talkers(const std::vector<std::string>& addresses,
                                             const std::vector<Cycle>& cycles);
// How many cycles all connections together finish in a second.
double cycles_per_second(const std::vector<std::string>& addresses,
                         const std::vector<Cycle>& cycles, std::chrono::milliseconds time);

// One RESP command.
std::string command(const std::vector<std::string>& words);
// Asks once and returns the reply's text (of a bulk or simple reply).
std::string ask(const std::string& address, const std::vector<std::string>& words);

}  // namespace turno::bench

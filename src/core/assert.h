// Assertions for what must be true, in every build. One that fails ends the process, unless what a
// peer sent is being handled: then it is the peer's message that is impossible, and whoever handles
// it is told so.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace turno {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

// What was asserted is not true, because a peer sent what no correct peer would. The value that
// handled the message is in no defined state any more: it can only be destroyed or assigned to.
class Impossible : public std::exception {
 public:
  explicit Impossible(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// While one lives, a failed assertion of this thread throws Impossible. Most of Boost's containers
// promise not to throw: an index that a peer chose is to be asserted before it is used.
class PeerInput {
 public:
  PeerInput();
  PeerInput(const PeerInput&) = delete;
  PeerInput& operator=(const PeerInput&) = delete;
  ~PeerInput();
};

}  // namespace turno

#define TURNO_ASSERT(condition)           \
  (static_cast<bool>(condition) ? void(0) \
                                : ::turno::assertion_failed(#condition, __FILE__, __LINE__))

#include "core/assert.h"

#include <cstdio>
#include <cstdlib>

namespace turno {

namespace {

thread_local int peer_inputs = 0;  // how many PeerInput live

}  // namespace

PeerInput::PeerInput() { ++peer_inputs; }
PeerInput::~PeerInput() { --peer_inputs; }

void assertion_failed(const char* condition, const char* file, int line) {
  if (peer_inputs > 0)
    throw Impossible(std::string(file) + ":" + std::to_string(line) +
                     ": a peer's message makes this untrue: " + condition);
  std::fprintf(stderr, "turno: %s:%d: this must be true and is not: %s\n", file, line, condition);
  std::abort();
}

}  // namespace turno

// What Boost asserts, in every build too (BOOST_ENABLE_ASSERT_HANDLER). Weak, because a program
// that has this library inside may have a handler of its own.
namespace boost {

[[gnu::weak]] void assertion_failed(const char* condition, const char* function, const char* file,
                                    long line);
void assertion_failed(const char* condition, const char* /*function*/, const char* file,
                      long line) {
  turno::assertion_failed(condition, file, static_cast<int>(line));
}

[[gnu::weak]] void assertion_failed_msg(const char* condition, const char* message,
                                        const char* function, const char* file, long line);
void assertion_failed_msg(const char* /*condition*/, const char* message, const char* /*function*/,
                          const char* file, long line) {
  turno::assertion_failed(message, file, static_cast<int>(line));
}

}  // namespace boost

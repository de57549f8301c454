// Assertions for what must be true, in every build. What a peer or a user sends is input, not an
// assertion.
#pragma once

namespace turno {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace turno

#define TURNO_ASSERT(condition)           \
  (static_cast<bool>(condition) ? void(0) \
                                : ::turno::assertion_failed(#condition, __FILE__, __LINE__))

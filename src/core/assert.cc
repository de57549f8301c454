#include "core/assert.h"

#include <cstdio>
#include <cstdlib>

namespace turno {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "turno: %s:%d: this must be true and is not: %s\n", file, line, condition);
  std::abort();
}

}  // namespace turno

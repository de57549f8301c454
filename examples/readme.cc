// The README's example, taken from there. It is only compiled.
#include <cstdio>
#include <mutex>
#include <string>

#include "turno/turno.h"

namespace {

int complain(const std::string& message) {
  std::fputs(message.c_str(), stderr);
  return 1;
}

}  // namespace

int main() {
#include "readme.inc"
  return 0;
}

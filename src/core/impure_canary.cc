// What no protocol may do: print and look at the clock. The test of purity must find it out.
#include <cstdio>
#include <ctime>

namespace turno {

long impure_canary();
long impure_canary() {
  const auto now = static_cast<long>(std::time(nullptr));
  std::printf("it is %ld\n", now);
  return now;
}

}  // namespace turno

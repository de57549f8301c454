#include <cstddef>
#include <cstdint>

#include "wire/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  turno::wire::fuzz_frames({data, size});
  return 0;
}

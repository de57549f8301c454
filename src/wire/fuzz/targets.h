// What the fuzzers do with their bytes; corpus_test.cc does the same with the files in corpus/. The
// first byte says in what pieces the rest arrives: that must make no difference. What is understood
// is written and read again, and must be the same.
#pragma once

#include <cstdint>
#include <span>

namespace turno::wire {

using FuzzTarget = void (*)(std::span<const std::uint8_t>);

// Frames; the kind of a frame chooses the algorithm whose message its body is.
void fuzz_frames(std::span<const std::uint8_t> bytes);
void fuzz_requests(std::span<const std::uint8_t> bytes);
void fuzz_replies(std::span<const std::uint8_t> bytes);

}  // namespace turno::wire

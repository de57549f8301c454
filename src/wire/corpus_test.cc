// Every file of the corpus goes through its fuzzer's function, so that what a fuzzer once found
// stays found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "wire/fuzz/targets.h"

namespace turno::wire {
namespace {

namespace fs = std::filesystem;

void run(const std::string& name, FuzzTarget target) {
  target({});
  std::size_t files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(TURNO_SOURCE_DIR) / "src/wire/fuzz/corpus" / name)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_FALSE(bytes.empty());
    // In every way that the bytes may arrive.
    for (std::uint8_t step = 0; step < 16; ++step) {
      std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
      if (!copy.empty()) copy[0] = step;
      target(copy);
    }
    ++files;
  }
  EXPECT_GE(files, 10U);
}

TEST(Corpus, Frames) { run("frames", fuzz_frames); }
TEST(Corpus, Requests) { run("requests", fuzz_requests); }
TEST(Corpus, Replies) { run("replies", fuzz_replies); }

}  // namespace
}  // namespace turno::wire

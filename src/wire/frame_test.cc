#include "wire/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace turno::wire {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A frame with its own body.
struct Kept {
  std::uint32_t epoch = 0;
  std::uint64_t lock = 0;
  std::uint8_t kind = 0;
  std::string body;
  bool operator==(const Kept&) const = default;
};

struct Outcome {
  std::vector<Kept> frames;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

std::string framed(const Kept& frame) {
  std::string out;
  write_frame(out, frame.epoch, frame.lock, frame.kind,
              [&](Writer& writer) { writer.raw(frame.body); });
  return out;
}
std::string with_length(std::uint32_t length, std::string_view bytes) {
  std::string out;
  Writer writer(out);
  writer.u32(length);
  writer.raw(bytes);
  return out;
}

Outcome read(std::string_view bytes, std::size_t step = std::string_view::npos) {
  FrameReader reader;
  Outcome outcome;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    reader.feed(bytes.substr(0, step));
    for (;;) {
      const auto status = reader.next();
      if (status == Status::error) outcome.error = reader.error();
      if (status != Status::ready) break;
      const auto& frame = reader.frame();
      outcome.frames.push_back({frame.epoch, frame.lock, frame.kind, std::string(frame.body)});
    }
  }
  return outcome;
}

const Kept example{.epoch = 300, .lock = 1U << 30, .kind = 7, .body = "some bytes"};

// Of this version.
std::string headed(std::string_view rest) {
  return std::string(1, static_cast<char>(version)) + std::string(rest);
}

TEST(Frame, HasItsLengthInFront) {
  EXPECT_EQ(framed({.epoch = 2, .lock = 3, .kind = 4, .body = "ab"}),
            "\x06\0\0\0"s + headed("\x02\x03\x04") + "ab");
}

TEST(Frame, IsAppendedToWhatIsThere) {
  std::string out = framed(example);
  write_frame(out, 1, 2, 3, [](Writer&) {});
  EXPECT_THAT(read(out).frames,
              ElementsAre(example, Kept{.epoch = 1, .lock = 2, .kind = 3, .body = ""}));
}

TEST(FrameReader, WaitsForTheRestWhereverAFrameIsCut) {
  const auto bytes = framed(example);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    FrameReader reader;
    reader.feed(std::string_view(bytes).substr(0, cut));
    ASSERT_EQ(reader.next(), Status::more) << cut;
    reader.feed(std::string_view(bytes).substr(cut));
    ASSERT_EQ(reader.next(), Status::ready) << cut;
    EXPECT_EQ(reader.frame().body, example.body);
    EXPECT_EQ(reader.next(), Status::more);
    EXPECT_EQ(reader.frame(), Frame{});
  }
  EXPECT_EQ(read(bytes + bytes, 1), (Outcome{{example, example}, ""}));
}

TEST(FrameReader, PointsIntoWhatTheNetworkWrote) {
  const auto bytes = framed(example);
  FrameReader reader;
  const auto room = reader.prepare(100);
  std::copy(bytes.begin(), bytes.end(), room.begin());
  reader.commit(bytes.size());
  ASSERT_EQ(reader.next(), Status::ready);
  EXPECT_EQ(reader.frame().body.data() + example.body.size(), room.data() + bytes.size());
}

TEST(FrameReader, RefusesAFrameThatClaims4GiBAtItsFourthByte) {
  FrameReader reader;
  reader.feed("\xff\xff\xff");
  EXPECT_EQ(reader.next(), Status::more);
  reader.feed("\xff");
  EXPECT_EQ(reader.next(), Status::error);
  EXPECT_EQ(reader.error(), "a frame of 4294967295 bytes; the most is 1048576");
}

TEST(FrameReader, TakesTheLongestFrame) {
  Kept longest{.epoch = 1, .lock = 1, .kind = 1, .body = std::string(max_frame - 4, 'x')};
  EXPECT_THAT(read(framed(longest), 65'536).frames, ElementsAre(longest));
  EXPECT_THAT(read(with_length(max_frame + 1, "")).error, HasSubstr("1048577 bytes"));
}

TEST(FrameReader, MayBeToldToTakeLess) {
  FrameReader reader;
  reader.limit(20);
  reader.feed(framed(example) + with_length(21, ""));
  EXPECT_EQ(reader.next(), Status::ready);
  EXPECT_EQ(reader.next(), Status::error);
  EXPECT_EQ(reader.error(), "a frame of 21 bytes; the most is 20");
}

TEST(FrameReader, RefusesWhatIsNoFrame) {
  EXPECT_EQ(read(with_length(0, "")).error, "an empty frame");
  EXPECT_EQ(read(with_length(1, headed(""))).error, "a frame with a malformed header");
  EXPECT_EQ(read(with_length(3, headed("\x01\x01"))).error, "a frame with a malformed header");
  EXPECT_EQ(read(with_length(4, headed("\xff\xff\xff"))).error, "a frame with a malformed header");
  // An epoch of 2^32.
  EXPECT_EQ(read(with_length(8, headed("\x80\x80\x80\x80\x10\x01\x01"))).error,
            "a frame with a malformed header");
  EXPECT_THAT(read("GET / HTTP/1.1\r\n").error, HasSubstr("a frame of 542393671 bytes"));
}

TEST(FrameReader, SaysBothVersions) {
  // At once: the rest of the frame need not come.
  EXPECT_EQ(read(with_length(100, "\x01")).error,
            "a frame of version 1; this is version " + std::to_string(version));
  EXPECT_EQ(read(with_length(100, "\xff")).error,
            "a frame of version 255; this is version " + std::to_string(version));
}

TEST(FrameReader, StaysInItsError) {
  FrameReader reader;
  reader.feed(with_length(0, ""));
  EXPECT_EQ(reader.next(), Status::error);
  reader.feed(framed(example));
  EXPECT_EQ(reader.next(), Status::error);
  EXPECT_EQ(reader.frame(), Frame{});
}

TEST(FrameReader, GivesTheFramesBeforeAnError) {
  const auto outcome = read(framed(example) + with_length(0, ""));
  EXPECT_THAT(outcome.frames, ElementsAre(example));
  EXPECT_EQ(outcome.error, "an empty frame");
}

RC_GTEST_PROP(FrameReader, DoesNotCareHowBytesArrive,
              (std::uint32_t epoch, std::uint64_t lock, std::uint8_t kind, std::string body,
               std::string garbage)) {
  const Kept frame{epoch, lock, kind, body};
  const auto bytes = framed(frame) + framed(frame) + garbage;
  const auto whole = read(bytes);
  RC_ASSERT(whole.frames.size() >= 2U);
  RC_ASSERT(whole.frames[0] == frame);
  RC_ASSERT(whole.frames[1] == frame);
  RC_ASSERT(read(bytes, 1) == whole);
  RC_ASSERT(read(bytes, 7) == whole);
}

}  // namespace
}  // namespace turno::wire

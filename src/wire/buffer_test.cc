#include "wire/buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace turno::wire {
namespace {

using namespace std::string_literals;

template <class Write>
std::string written(Write write) {
  std::string out;
  Writer writer(out);
  write(writer);
  return out;
}
std::string varint(std::uint64_t value) {
  return written([&](Writer& writer) { writer.varint(value); });
}

TEST(Writer, WritesLittleEndian) {
  EXPECT_EQ(written([](Writer& w) { w.u8(0xfe); }), "\xfe");
  EXPECT_EQ(written([](Writer& w) { w.u32(0x01020384); }), "\x84\x03\x02\x01");
  EXPECT_EQ(written([](Writer& w) { w.bytes("abc"); }), "\x03"s + "abc");
  EXPECT_EQ(varint(0), "\0"s);
  EXPECT_EQ(varint(127), "\x7f");
  EXPECT_EQ(varint(128), "\x80\x01");
  EXPECT_EQ(varint(300), "\xac\x02");
  EXPECT_EQ(varint(std::numeric_limits<std::uint64_t>::max()), std::string(9, '\xff') + "\x01");
}

TEST(Writer, AppendsAndPatches) {
  std::string out = "x";
  Writer writer(out);
  writer.u32(0);
  writer.raw("yz");
  EXPECT_EQ(writer.size(), 7U);
  writer.patch_u32(1, 2);
  EXPECT_EQ(out, "x\2\0\0\0yz"s);
}

TEST(Reader, ReadsWhatWasWritten) {
  const auto bytes = written([](Writer& w) {
    w.u8(200);
    w.u32(0xdeadbeef);
    w.varint(1U << 20);
    w.bytes("name");
    w.raw("rest");
  });
  Reader reader(bytes);
  EXPECT_EQ(reader.u8(), 200);
  EXPECT_EQ(reader.u32(), 0xdeadbeef);
  EXPECT_EQ(reader.varint(), 1U << 20);
  EXPECT_EQ(reader.bytes(), "name");
  EXPECT_EQ(reader.remaining(), 4U);
  EXPECT_EQ(reader.rest(), "rest");
  EXPECT_EQ(reader.remaining(), 0U);
  EXPECT_TRUE(reader.ok());
}

TEST(Reader, NeverReadsBeyondTheEnd) {
  for (const auto read : {+[](Reader& r) { r.u8(); }, +[](Reader& r) { r.varint(); },
                          +[](Reader& r) { r.bytes(); }}) {
    Reader reader("");
    read(reader);
    EXPECT_FALSE(reader.ok());
  }
  Reader three("abc");
  EXPECT_EQ(three.u32(), 0U);
  EXPECT_FALSE(three.ok());
  Reader claim(
      "\x05"
      "abcd");
  EXPECT_EQ(claim.bytes(), "");
  EXPECT_FALSE(claim.ok());
  const auto huge = varint(std::numeric_limits<std::uint64_t>::max()) + "abcd";
  Reader most(huge);
  EXPECT_EQ(most.bytes(), "");
  EXPECT_FALSE(most.ok());
}

TEST(Reader, StaysInItsError) {
  Reader reader("abcdefgh");
  EXPECT_EQ(reader.u8(), 'a');
  reader.fail();
  EXPECT_EQ(reader.u8(), 0);
  EXPECT_EQ(reader.u32(), 0U);
  EXPECT_EQ(reader.varint(), 0U);
  EXPECT_EQ(reader.rest(), "");
  EXPECT_EQ(reader.remaining(), 0U);
  EXPECT_FALSE(reader.ok());
}

TEST(Reader, RefusesVarintsOfMoreThan64Bits) {
  for (const auto& bytes : {std::string(9, '\xff') + "\x02", std::string(10, '\x80') + "\x01",
                            std::string(9, '\x80'), std::string(100, '\xff')}) {
    Reader reader(bytes);
    EXPECT_EQ(reader.varint(), 0U);
    EXPECT_FALSE(reader.ok());
  }
}

TEST(Reader, TakesLongerWaysToWriteANumber) {
  const auto longer = "\x81\x80\x00"s;
  Reader reader(longer);
  EXPECT_EQ(reader.varint(), 1U);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0U);
}

RC_GTEST_PROP(Reader, ReadsEveryVarintAndNoneCutShort, (std::uint64_t number, std::uint8_t shift)) {
  const auto value = number >> (shift % 64);
  const auto bytes = varint(value);
  Reader reader(bytes);
  RC_ASSERT(reader.varint() == value);
  RC_ASSERT(reader.ok());
  RC_ASSERT(reader.remaining() == 0U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader cut(std::string_view(bytes).substr(0, size));
    cut.varint();
    RC_ASSERT(!cut.ok());
  }
}

}  // namespace
}  // namespace turno::wire

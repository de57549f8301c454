#include "cli/frame/readable.h"

#include <gtest/gtest.h>

namespace turno::cli {
namespace {

using namespace std::chrono_literals;

TEST(Readable, Times) {
  EXPECT_EQ(readable(0ms), "0 s");
  EXPECT_EQ(readable(12ms), "12 ms");
  EXPECT_EQ(readable(1s), "1 s");
  EXPECT_EQ(readable(3290ms), "3.2 s");
  EXPECT_EQ(readable(125s), "2 min 5 s");
  EXPECT_EQ(readable(200min), "3 h 20 min");
  EXPECT_EQ(readable(52h), "2 d 4 h");
}

TEST(Readable, Counts) {
  EXPECT_EQ(counted(0, "node"), "0 nodes");
  EXPECT_EQ(counted(1, "node"), "1 node");
}

TEST(Readable, OnlyPrintableTextIsPrinted) {
  EXPECT_EQ(printable("backup-1"), "backup-1");
  EXPECT_EQ(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a control character of eight bits";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than it should be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(printable("a\u202Eb"), "a\\xe2\\x80\\xaeb") << "turns the line around";
  EXPECT_EQ(printable("a\u200Bb\uFEFF"), "a\\xe2\\x80\\x8bb\\xef\\xbb\\xbf") << "not seen";
}

TEST(Readable, WordsForAShell) {
  EXPECT_EQ(shell_word("/tmp/turno-0"), "/tmp/turno-0");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my dir"), "'my dir'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace turno::cli

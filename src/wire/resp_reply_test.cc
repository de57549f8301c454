#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "wire/resp.h"

namespace turno::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = Reply::Kind;

struct Outcome {
  std::vector<Reply> replies;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

Outcome parse(std::string_view bytes, std::size_t step = std::string_view::npos) {
  ReplyParser parser;
  Outcome outcome;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    parser.feed(bytes.substr(0, step));
    for (;;) {
      const auto status = parser.next();
      if (status == Status::error) outcome.error = parser.error();
      if (status != Status::ready) break;
      outcome.replies.push_back(std::move(parser.reply()));
    }
  }
  return outcome;
}

Reply text(Kind kind, std::string value) { return {.kind = kind, .text = std::move(value)}; }
Reply integer(std::int64_t value) { return {.kind = Kind::integer, .integer = value}; }
Reply list(Kind kind, std::vector<Reply> elements) {
  return {.kind = kind, .elements = std::move(elements)};
}

template <class Write>
std::string written(int protocol, Write write) {
  std::string out;
  ReplyWriter writer(out, protocol);
  write(writer);
  return out;
}

TEST(ReplyWriter, WritesTheSameInBothVersions) {
  for (const int protocol : {2, 3}) {
    EXPECT_EQ(written(protocol, [](auto& w) { w.simple("OK"); }), "+OK\r\n");
    EXPECT_EQ(written(protocol, [](auto& w) { w.error("ERR", "no such command"); }),
              "-ERR no such command\r\n");
    EXPECT_EQ(written(protocol, [](auto& w) { w.integer(-7); }), ":-7\r\n");
    EXPECT_EQ(written(protocol, [](auto& w) { w.bulk("a\r\nb"); }), "$4\r\na\r\nb\r\n");
    EXPECT_EQ(written(protocol, [](auto& w) { w.bulk(""); }), "$0\r\n\r\n");
    EXPECT_EQ(written(protocol, [](auto& w) { w.array(3); }), "*3\r\n");
  }
  EXPECT_EQ(written(2, [](auto& w) { w.integer(std::numeric_limits<std::int64_t>::min()); }),
            ":-9223372036854775808\r\n");
}

TEST(ReplyWriter, KnowsWhatVersion2DoesNotHave) {
  const auto write = [](ReplyWriter& writer) {
    writer.null();
    writer.boolean(true);
    writer.boolean(false);
    writer.map(2);
    writer.push(3);
  };
  EXPECT_EQ(written(2, write), "$-1\r\n:1\r\n:0\r\n*4\r\n*3\r\n");
  EXPECT_EQ(written(3, write), "_\r\n#t\r\n#f\r\n%2\r\n>3\r\n");
  std::string out;
  ReplyWriter writer(out);
  EXPECT_EQ(writer.protocol(), 2);
  writer.set_protocol(3);
  writer.null();
  EXPECT_EQ(out, "_\r\n");
}

TEST(ReplyWriter, LetsNobodySmuggleALineEnd) {
  EXPECT_EQ(written(2, [](auto& w) { w.error("ERR", "unknown\r\n+OK"); }), "-ERR unknown  +OK\r\n");
  EXPECT_EQ(written(2, [](auto& w) { w.simple("a\nb"); }), "+a b\r\n");
}

TEST(ReplyParser, ReadsVersion2) {
  EXPECT_THAT(
      parse("+OK\r\n-ERR no\r\n:42\r\n:-1\r\n$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n*-1\r\n").replies,
      ElementsAre(text(Kind::simple, "OK"), text(Kind::error, "ERR no"), integer(42), integer(-1),
                  text(Kind::bulk, "a\r\n"), text(Kind::bulk, ""), Reply{}, Reply{}));
  EXPECT_THAT(
      parse("*0\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n").replies,
      ElementsAre(list(Kind::array, {}),
                  list(Kind::array, {integer(1), list(Kind::array, {text(Kind::bulk, "x")})})));
}

TEST(ReplyParser, ReadsVersion3) {
  EXPECT_THAT(
      parse("_\r\n#t\r\n#f\r\n,1.5\r\n,-inf\r\n,nan\r\n(-12345678901234567890\r\n"
            "=7\r\ntxt:abc\r\n!5\r\nERR x\r\n")
          .replies,
      ElementsAre(Reply{}, Reply{.kind = Kind::boolean, .integer = 1}, Reply{.kind = Kind::boolean},
                  text(Kind::number, "1.5"), text(Kind::number, "-inf"), text(Kind::number, "nan"),
                  text(Kind::big_number, "-12345678901234567890"), text(Kind::verbatim, "abc"),
                  text(Kind::error, "ERR x")));
  EXPECT_THAT(parse("%1\r\n+a\r\n:1\r\n~1\r\n:2\r\n>2\r\n+lost\r\n_\r\n").replies,
              ElementsAre(list(Kind::map, {text(Kind::simple, "a"), integer(1)}),
                          list(Kind::set, {integer(2)}),
                          list(Kind::push, {text(Kind::simple, "lost"), Reply{}})));
}

TEST(ReplyParser, ForgetsAttributes) {
  EXPECT_THAT(
      parse("|1\r\n+ttl\r\n:5\r\n*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n:9\r\n:2\r\n|0\r\n:3\r\n").replies,
      ElementsAre(list(Kind::array, {integer(1), integer(2)}), integer(3)));
}

TEST(ReplyParser, WaitsForTheRestWhereverAReplyIsCut) {
  const std::string bytes =
      "%2\r\n$4\r\nname\r\n+x\r\n+list\r\n*3\r\n:1\r\n_\r\n*1\r\n=6\r\ntxt:ab\r\n";
  const auto whole = parse(bytes);
  ASSERT_THAT(whole.replies, SizeIs(1));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    ReplyParser parser;
    parser.feed(std::string_view(bytes).substr(0, cut));
    ASSERT_EQ(parser.next(), Status::more) << cut;
    parser.feed(std::string_view(bytes).substr(cut));
    ASSERT_EQ(parser.next(), Status::ready) << cut;
    EXPECT_EQ(parser.reply(), whole.replies.front());
    EXPECT_EQ(parser.next(), Status::more);
  }
  EXPECT_EQ(parse(bytes + bytes, 1).replies, parse(bytes + bytes).replies);
}

TEST(ReplyParser, RefusesWhatIsNoReply) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"HTTP/1.1 400 Bad Request\r\n", "unknown type"},
      {"\r\n", "does not end"},
      {"+OK\n", "does not end"},
      {"\n", "does not end"},
      {":\r\n", "an integer"},
      {":1x\r\n", "an integer"},
      {":+-1\r\n", "an integer"},
      {":9223372036854775808\r\n", "an integer"},
      {"_x\r\n", "a null"},
      {"#y\r\n", "a boolean"},
      {",1.5.2\r\n", "a double"},
      {",\r\n", "a double"},
      {"(12a\r\n", "a big number"},
      {"(-\r\n", "a big number"},
      {"$-2\r\n", "a length"},
      {"$?\r\n", "a length"},
      {"=-1\r\n", "a length"},
      {"%-1\r\n", "a length"},
      {"$1\r\nabc\r\n", "longer than it says"},
      {"=3\r\nabc\r\n", "without a format"},
      {"=4\r\nabcd\r\n", "without a format"},
      {"*1\r\n>1\r\n:1\r\n", "push inside"},
  };
  for (const auto& [bytes, error] : wrong) {
    EXPECT_THAT(parse(bytes).replies, IsEmpty()) << bytes;
    EXPECT_THAT(parse(bytes).error, HasSubstr(error)) << bytes;
    EXPECT_EQ(parse(bytes, 1), parse(bytes)) << bytes;
  }
}

TEST(ReplyParser, StaysInItsError) {
  ReplyParser parser;
  parser.feed("*2\r\n:1\r\nx\r\n:2\r\n");
  EXPECT_EQ(parser.next(), Status::error);
  parser.feed("+OK\r\n");
  EXPECT_EQ(parser.next(), Status::error);
}

TEST(ReplyParser, HasLimits) {
  std::string nested;
  for (std::size_t i = 0; i < ReplyParser::max_depth; ++i) nested += "*1\r\n";
  EXPECT_THAT(parse(nested + ":1\r\n").replies, SizeIs(1));
  EXPECT_THAT(parse(nested + "*1\r\n:1\r\n").error, HasSubstr("inside each other"));
  EXPECT_THAT(parse("*1000000\r\n").error, IsEmpty());
  EXPECT_THAT(parse("*1000001\r\n").error, HasSubstr("elements"));
  EXPECT_THAT(parse("%500001\r\n").error, HasSubstr("elements"));
  EXPECT_THAT(parse("%9223372036854775807\r\n").error, HasSubstr("elements"));
  EXPECT_THAT(parse("*500000\r\n*500001\r\n").error, HasSubstr("elements"));
  EXPECT_THAT(parse("$16777216\r\n").error, IsEmpty());
  EXPECT_THAT(parse("$16777217\r\n").error, HasSubstr("16 MiB"));
  EXPECT_THAT(parse("+" + std::string(70'000, 'x'), 1000).error, HasSubstr("a line of more"));
}

TEST(ReplyParser, CountsTheElementsOfEachReplyAlone) {
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    bytes += "*400000\r\n";
    for (int j = 0; j < 400'000; ++j) bytes += "_\r\n";
  }
  EXPECT_THAT(parse(bytes), testing::AllOf(testing::Field(&Outcome::replies, SizeIs(3)),
                                           testing::Field(&Outcome::error, IsEmpty())));
}

RC_GTEST_PROP(ReplyParser, DoesNotCareHowBytesArrive, ()) {
  const auto bytes = *rc::gen::container<std::string>(rc::gen::element(
      '*', '$', '%', '|', '>', ':', '+', '_', '1', '2', '0', '-', '\r', '\n', 'x', '='));
  RC_ASSERT(parse(bytes) == parse(bytes, 1));
}

}  // namespace
}  // namespace turno::wire

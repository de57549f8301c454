#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "wire/resp.h"

namespace turno::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Request = std::vector<std::string>;

struct Outcome {
  std::vector<Request> requests;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

void read_into(Outcome& outcome, RequestParser& parser) {
  for (;;) {
    const auto status = parser.next();
    if (status == Status::error) outcome.error = parser.error();
    if (status != Status::ready) return;
    outcome.requests.emplace_back(parser.arguments().begin(), parser.arguments().end());
  }
}

Outcome parse(std::string_view bytes, std::size_t step = std::string_view::npos) {
  RequestParser parser;
  Outcome outcome;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    parser.feed(bytes.substr(0, step));
    read_into(outcome, parser);
  }
  return outcome;
}

std::string request(const Request& arguments) {
  std::string out;
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  write_request(out, views);
  return out;
}

TEST(RequestParser, ReadsAnArrayOfBulkStrings) {
  EXPECT_EQ(request({"LOCK", "a"}), "*2\r\n$4\r\nLOCK\r\n$1\r\na\r\n");
  EXPECT_THAT(parse("*2\r\n$4\r\nLOCK\r\n$1\r\na\r\n").requests,
              ElementsAre(ElementsAre("LOCK", "a")));
}

TEST(RequestParser, TakesAnyByteInAnArgument) {
  const std::string strange("\r\n\0$*\xff", 6);
  EXPECT_THAT(parse(request({"LOCK", strange, ""})).requests,
              ElementsAre(ElementsAre("LOCK", strange, "")));
}

TEST(RequestParser, ReadsLinesOfWords) {
  const auto outcome = parse("PING\r\n  lock \t a  TIMEOUT 5 \n\r\n\nWHO x\r\n");
  EXPECT_THAT(outcome.requests,
              ElementsAre(ElementsAre("PING"), ElementsAre("lock", "a", "TIMEOUT", "5"),
                          ElementsAre("WHO", "x")));
  EXPECT_THAT(outcome.error, IsEmpty());
}

TEST(RequestParser, SkipsArraysWithoutElements) {
  EXPECT_THAT(parse("*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n").requests,
              ElementsAre(ElementsAre("PING")));
}

TEST(RequestParser, GivesPipelinedRequestsOneByOne) {
  RequestParser parser;
  parser.feed("*1\r\n$4\r\nPING\r\nPING\r\n*1\r\n$4\r\nQU");
  EXPECT_EQ(parser.next(), Status::ready);
  EXPECT_THAT(parser.arguments(), ElementsAre("PING"));
  EXPECT_EQ(parser.next(), Status::ready);
  EXPECT_THAT(parser.arguments(), ElementsAre("PING"));
  EXPECT_EQ(parser.next(), Status::more);
  EXPECT_THAT(parser.arguments(), IsEmpty());
  EXPECT_EQ(parser.pending(), 10U);
  parser.feed("IT\r\n");
  EXPECT_EQ(parser.next(), Status::ready);
  EXPECT_THAT(parser.arguments(), ElementsAre("QUIT"));
  EXPECT_EQ(parser.next(), Status::more);
}

TEST(RequestParser, PointsIntoWhatTheNetworkWrote) {
  RequestParser parser;
  const std::string bytes = request({"LOCK", "name"});
  const auto room = parser.prepare(100);
  EXPECT_EQ(room.size(), 100U);
  std::copy(bytes.begin(), bytes.end(), room.begin());
  parser.commit(bytes.size());
  ASSERT_EQ(parser.next(), Status::ready);
  EXPECT_EQ(parser.arguments()[1].data(), room.data() + 18);
}

TEST(RequestParser, AllocatesNothingInTheSteadyState) {
  RequestParser parser;
  const std::string bytes = request({"LOCK", "name"});
  parser.prepare(4096);
  const auto* const first = parser.prepare(4096).data();
  for (int i = 0; i < 1000; ++i) {
    const auto room = parser.prepare(4096);
    EXPECT_EQ(room.data(), first);
    std::copy(bytes.begin(), bytes.end(), room.begin());
    parser.commit(bytes.size());
    ASSERT_EQ(parser.next(), Status::ready);
    ASSERT_EQ(parser.next(), Status::more);
  }
}

TEST(RequestParser, WaitsForTheRestWhereverARequestIsCut) {
  const std::string bytes = request({"LOCK", "some name", "", "TIMEOUT", "1000"});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    RequestParser parser;
    parser.feed(std::string_view(bytes).substr(0, cut));
    ASSERT_EQ(parser.next(), Status::more) << cut;
    parser.feed(std::string_view(bytes).substr(cut));
    ASSERT_EQ(parser.next(), Status::ready) << cut;
    EXPECT_EQ(parser.arguments().size(), 5U);
    ASSERT_EQ(parser.next(), Status::more) << cut;
  }
}

TEST(RequestParser, RefusesWhatIsNoRequest) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"*x\r\n", "Protocol error: invalid multibulk length"},
      {"*\r\n", "Protocol error: invalid multibulk length"},
      {"*-2\r\n", "Protocol error: invalid multibulk length"},
      {"*1\n", "Protocol error: invalid multibulk length"},
      {"*1\rx", "Protocol error: invalid multibulk length"},
      {"*65\r\n", "Protocol error: invalid multibulk length: more than 64"},
      {"*4294967297\r\n", "Protocol error: invalid multibulk length"},
      {"*1\r\n:1\r\n", "Protocol error: expected '$', got ':'"},
      {"*1\r\n\x16\r\n", "Protocol error: expected '$', got '\\x16'"},
      {"*1\r\n\xff\r\n", "Protocol error: expected '$', got '\\xff'"},
      {"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$+1\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$65537\r\n", "Protocol error: invalid bulk length: more than 65536"},
      {"*1\r\n$99999999999999999999\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$1\r\nabc", "Protocol error: expected the end of a bulk string"},
      {"*1\r\n$1\r\na\rb", "Protocol error: expected the end of a bulk string"},
  };
  for (const auto& [bytes, error] : wrong) {
    EXPECT_THAT(parse(bytes), testing::AllOf(testing::Field(&Outcome::requests, IsEmpty()),
                                             testing::Field(&Outcome::error, error)))
        << bytes;
    EXPECT_EQ(parse(bytes, 1).error, error) << bytes;
  }
}

TEST(RequestParser, StaysInItsError) {
  RequestParser parser;
  parser.feed("PING\r\n*x\r\nPING\r\n");
  EXPECT_EQ(parser.next(), Status::ready);
  EXPECT_EQ(parser.next(), Status::error);
  parser.feed("PING\r\n");
  EXPECT_EQ(parser.next(), Status::error);
  EXPECT_THAT(parser.arguments(), IsEmpty());
  EXPECT_THAT(parser.error(), StartsWith("Protocol error: "));
}

TEST(RequestParser, TakesWhatIsJustWithinTheLimits) {
  const Request many(RequestParser::max_arguments, "x");
  EXPECT_THAT(parse(request(many)).requests, ElementsAre(many));
  const Request large = {std::string(RequestParser::max_argument, 'x')};
  EXPECT_THAT(parse(request(large)).requests, ElementsAre(large));
  std::string words;
  for (int i = 0; i < 64; ++i) words += "x ";
  EXPECT_THAT(parse(words + "\r\n").requests, ElementsAre(many));
  EXPECT_EQ(parse(words + "x\r\n").error,
            "Protocol error: too many words in an inline request: more than 64");
  // "*4", three arguments as large as may be and one that fills the request.
  Request full(3, std::string(RequestParser::max_argument, 'x'));
  const auto others = request(full).size() + std::string_view("$65496\r\n\r\n").size();
  full.emplace_back(RequestParser::max_request - others, 'x');
  EXPECT_EQ(request(full).size(), RequestParser::max_request);
  EXPECT_THAT(parse(request(full), 10'000).requests, ElementsAre(full));
  full.back() += 'x';
  EXPECT_THAT(parse(request(full)).error, HasSubstr("too big request"));
}

TEST(RequestParser, RefusesALineWithoutAnEnd) {
  const std::string line(RequestParser::max_line, 'x');
  EXPECT_THAT(parse(line + "\n").requests, ElementsAre(ElementsAre(line)));
  EXPECT_THAT(parse(line, 1000).error, IsEmpty());
  EXPECT_EQ(parse(line + "x", 1000).error, "Protocol error: too big inline request");
  EXPECT_EQ(parse(line + "x\n").error, "Protocol error: too big inline request");
}

RC_GTEST_PROP(RequestParser, GivesBackWhatWasWritten, ()) {
  const auto requests = *rc::gen::container<std::vector<Request>>(
      rc::gen::suchThat<Request>([](const Request& r) { return !r.empty() && r.size() <= 64; }));
  std::string bytes;
  for (const auto& r : requests) bytes += request(r);
  RC_ASSERT((parse(bytes) == Outcome{requests, ""}));
  RC_ASSERT((parse(bytes, *rc::gen::inRange<std::size_t>(1, 9)) == Outcome{requests, ""}));
}

RC_GTEST_PROP(RequestParser, DoesNotCareHowBytesArrive, ()) {
  const auto bytes = *rc::gen::container<std::string>(
      rc::gen::element('*', '$', '1', '2', '0', '-', '\r', '\n', 'x', ' '));
  RC_ASSERT(parse(bytes) == parse(bytes, 1));
}

}  // namespace
}  // namespace turno::wire

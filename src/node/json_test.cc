#include "node/json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "node/http_testing.h"

namespace turno::node {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out;
  write_json_string(out, text);
  return out;
}

TEST(Json, NestsObjectsAndArrays) {
  const auto text = Json::document([](Json& json) {
    json.text("a", "b");
    json.array("numbers", [&] {
      json.number({}, 1);
      json.number({}, -2);
    });
    json.object("empty", [] {});
    json.array("objects", [&] {
      json.object({}, [&] { json.boolean("yes", true); });
      json.object({}, [&] { json.null("nothing"); });
    });
    json.number("large", std::uint64_t{18446744073709551615U});
  });
  EXPECT_EQ(text,
            R"({"a":"b","numbers":[1,-2],"empty":{},"objects":[{"yes":true},{"nothing":null}],)"
            R"("large":18446744073709551615})"
            "\n");
}

TEST(Json, EscapesWhatMustBe) {
  EXPECT_EQ(in_quotes("a\"b\\c\n\x7f"), R"("a\"b\\c\u000a\u007f")");
  EXPECT_EQ(in_quotes(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(in_quotes("\u00e9\u20ac\U0001f512"), "\"\u00e9\u20ac\U0001f512\"");
}

TEST(Json, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(in_quotes("a\xff"), R"("a\ufffd")");
  EXPECT_EQ(in_quotes("\xc3"), R"("\ufffd")") << "cut off";
  EXPECT_EQ(in_quotes("\xc0\xaf"), R"("\ufffd\ufffd")") << "longer than needed";
  EXPECT_EQ(in_quotes("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "half of a pair";
  EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "too large";
  EXPECT_EQ(in_quotes("\xe2\x82\x22"), R"("\ufffd\ufffd\"")");
}

TEST(Json, IsWellFormedWhateverTheText) {
  EXPECT_TRUE(
      rc::check([](const std::string& text) { RC_ASSERT(JsonChecker::accepts(in_quotes(text))); }));
}

TEST(JsonChecker, FindsWhatIsWrong) {
  EXPECT_TRUE(JsonChecker::accepts(R"( {"a" : [1, 2.5e3, "x\n", {}, []], "b": null} )"));
  for (const auto* bad : {"", "{", "{\"a\"}", "[1,]", "[1 2]", "\"a", "\"\n\"", "{} {}", "{a:1}"})
    EXPECT_FALSE(JsonChecker::accepts(bad)) << bad;
}

}  // namespace
}  // namespace turno::node

#include "core/text/json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "core/text/json_testing.h"

namespace turno {
namespace {

TEST(Json, NestsObjectsAndArrays) {
  Json inner, nothing;
  inner.add("yes", true);
  nothing.add("nothing", nullptr);
  const auto text = Json()
                        .add("a", "b")
                        .add_raw("numbers", json_array({"1", "-2"}))
                        .add("empty", Json())
                        .add("objects", std::vector{inner, nothing})
                        .add("words", std::vector<std::string>{"x", "y"})
                        .add("large", std::uint64_t{18446744073709551615U})
                        .add("half", 0.5)
                        .add("endless", std::numeric_limits<double>::infinity())
                        .text();
  EXPECT_EQ(text,
            R"({"a":"b","numbers":[1,-2],"empty":{},"objects":[{"yes":true},{"nothing":null}],)"
            R"("words":["x","y"],"large":18446744073709551615,"half":0.5,"endless":null})");
  EXPECT_TRUE(is_json(text));
}

TEST(Json, EscapesWhatMustBe) {
  EXPECT_EQ(json_string("a\"b\\c\n\x7f"), R"("a\"b\\c\u000a\u007f")");
  EXPECT_EQ(json_string(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json_string("\u00e9\u20ac\U0001f512"), "\"\u00e9\u20ac\U0001f512\"");
}

TEST(Json, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(json_string("a\xff"), R"("a\ufffd")");
  EXPECT_EQ(json_string("\xc3"), R"("\ufffd")") << "cut off";
  EXPECT_EQ(json_string("\xc0\xaf"), R"("\ufffd\ufffd")") << "longer than needed";
  EXPECT_EQ(json_string("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "half of a pair";
  EXPECT_EQ(json_string("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "too large";
  EXPECT_EQ(json_string("\xe2\x82\x22"), R"("\ufffd\ufffd\"")");
}

TEST(Json, IsWellFormedWhateverTheText) {
  EXPECT_TRUE(rc::check([](const std::string& text) { RC_ASSERT(is_json(json_string(text))); }));
}

TEST(IsJson, FindsWhatIsWrong) {
  EXPECT_TRUE(is_json(R"( {"a" : [1, 2.5e3, "x\n", {}, []], "b": null} )"));
  for (const auto* bad : {"", "{", "{\"a\"}", "[1,]", "[1 2]", "\"a", "\"\n\"", "{} {}", "{a:1}"})
    EXPECT_FALSE(is_json(bad)) << bad;
}

}  // namespace
}  // namespace turno

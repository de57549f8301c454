#include "table/bequests.h"

#include <gtest/gtest.h>

#include <string>

namespace turno::table {
namespace {

using namespace std::chrono_literals;

std::string bytes_of(const Will& will) {
  std::string bytes;
  wire::Writer out(bytes);
  encode(out, will);
  return bytes;
}
std::optional<Will> read(std::string_view bytes) {
  wire::Reader in(bytes);
  return decode_will(in);
}

const Will will{"ticket",
                {{"a", Fence{17}, 0ms},
                 {"b", Fence{1}, 2500ms, 7ms},
                 {"a", Fence{17}, 0ms, 1ms, Thing::election, "a value"}}};

TEST(Will, IsReadAsItWasWritten) { EXPECT_EQ(read(bytes_of(will)), will); }

TEST(Will, TellsWhenItWasWritten) {
  auto dated = will;
  dated.written = {"a boot", 1'000'000'000};
  EXPECT_EQ(read(bytes_of(dated)), dated);
}

TEST(Will, OfTimesToLiveTheWayTakesSome) {
  auto late = will;
  late.written = {"a boot", 5'000'000'000};
  const auto left = [&](const cluster::Moment& now) {
    auto read = late;
    read.age(now);
    EXPECT_EQ(read.bequests[0].ttl, 0ms) << "it has none";
    return read.bequests[1].ttl;
  };
  EXPECT_EQ(left({"a boot", 7'000'000'000}), 500ms);
  EXPECT_EQ(left({"a boot", 70'000'000'000}), 1ms) << "it is over";
  EXPECT_EQ(left({"another boot", 7'000'000'000}), 2500ms) << "who knows";
  EXPECT_EQ(left({"a boot", 4'000'000'000}), 2500ms);
  EXPECT_EQ(left({}), 2500ms);
}

TEST(Will, ThatIsCutOrTooLongIsNone) {
  const auto whole = bytes_of(will);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read(std::string_view(whole).substr(0, size))) << size;
  EXPECT_FALSE(read(whole + "x"));
}

TEST(Will, OfImpossibleThingsIsNone) {
  EXPECT_FALSE(read(bytes_of({"t", {{"", Fence{1}, 0ms}}}))) << "no name";
  EXPECT_FALSE(read(bytes_of({"t", {{std::string(513, 'a'), Fence{1}, 0ms}}}))) << "a long name";
  EXPECT_FALSE(read(bytes_of({"t", {{"a", Fence{}, 0ms}}}))) << "no fence";
  EXPECT_FALSE(read(bytes_of({"t", {{"a", Fence{1}, 1000000h}}}))) << "a time for ever";
  EXPECT_FALSE(read(bytes_of({"t", {{"a", Fence{1}, 0ms, 0ms, Thing::semaphore}}})))
      << "permits do not move";
  EXPECT_FALSE(read(bytes_of(
      {"t", {{"a", Fence{1}, 0ms, 0ms, Thing::election, std::string(longest_value + 1, 'v')}}})));
  Will many{"t", {}};
  many.bequests.assign(most_bequests + 1, {"a", Fence{1}, 0ms});
  EXPECT_FALSE(read(bytes_of(many)));
}

}  // namespace
}  // namespace turno::table

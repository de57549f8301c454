#include "table/sightings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "wire/frame.h"

namespace turno::table {

namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using Kind = Sighting::Kind;

Sighting holder() {
  return {.lock = std::string("a\0b", 3),
          .client = "10.0.0.1:4711",
          .session = 77,
          .kind = Sighting::Kind::holds,
          .fence = Fence::at(3, 5),
          .age = 1234ms,
          .from = "unix:pid=7,user=alice"};
}

Sightings through_the_wire(const Sightings& sightings) {
  std::string bytes;
  wire::Writer out(bytes);
  encode_sightings(out, sightings);
  wire::Reader in(bytes);
  auto result = decode_sightings(in);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0U);
  return result;
}

TEST(Sightings, ArriveAsTheyWere) {
  EXPECT_THAT(through_the_wire({}).list, IsEmpty());
  const auto all = through_the_wire(
      {.list = {holder(),
                {.lock = "b"},
                {.lock = "c", .session = 3, .kind = Kind::noted},
                {.lock = "d", .kind = Kind::holds, .thing = Thing::election, .value = "v"},
                {.lock = "e", .thing = Thing::semaphore, .count = 3}},
       .waiting = 70'000,
       .cut = true});
  EXPECT_EQ(all.waiting, 70'000U);
  EXPECT_TRUE(all.cut);
  const auto& seen = all.list;
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen[0].lock, holder().lock);
  EXPECT_EQ(seen[0].client, holder().client);
  EXPECT_EQ(seen[0].session, 77U);
  EXPECT_TRUE(seen[0].is(Kind::holds));
  EXPECT_EQ(seen[0].fence, Fence::at(3, 5));
  EXPECT_EQ(seen[0].age, 1234ms);
  EXPECT_EQ(seen[0].from, "unix:pid=7,user=alice");
  EXPECT_TRUE(seen[1].is(Kind::waits));
  EXPECT_TRUE(seen[2].is(Kind::noted));
  EXPECT_EQ(seen[3].thing, Thing::election);
  EXPECT_EQ(seen[3].value, "v");
  EXPECT_EQ(seen[4].count, 3U);
}

TEST(Sightings, ThatDoNotFitIntoAFrameAreCut) {
  auto sighting = holder();
  sighting.value = std::string(longest_value, 'v');
  std::string bytes;
  wire::Writer out(bytes);
  encode_sightings(out, {.list = std::vector<Sighting>(most_sightings, sighting)});
  EXPECT_LT(bytes.size(), wire::max_frame - 100);
  wire::Reader in(bytes);
  const auto seen = decode_sightings(in);
  EXPECT_GT(seen.list.size(), 200U);
  EXPECT_TRUE(seen.cut);
}

TEST(Sightings, LongClientNamesAreCut) {
  auto sighting = holder();
  sighting.client = std::string(70'000, 'x');
  EXPECT_EQ(through_the_wire({.list = {sighting}}).list[0].client, std::string(256, 'x'));
}

TEST(Sightings, AsManyAsAreSentFitIntoAFrame) {
  auto sighting = holder();
  sighting.lock = std::string(LockTable::longest_name, 'x');
  sighting.client = sighting.from = std::string(1000, 'x');
  sighting.session = sighting.fence.value = ~std::uint64_t{0};
  sighting.age = std::chrono::milliseconds::max();
  std::string bytes;
  wire::Writer out(bytes);
  encode_sightings(out, {.list = std::vector<Sighting>(most_sightings, sighting)});
  EXPECT_LT(bytes.size(), wire::max_frame - 100);
  wire::Reader in(bytes);
  const auto seen = decode_sightings(in);
  EXPECT_EQ(seen.list.size(), most_sightings);
  EXPECT_FALSE(seen.cut);
}

TEST(Sightings, OfWhatIsCutShortTheBeginningIsRead) {
  std::string bytes;
  wire::Writer out(bytes);
  encode_sightings(out, {.list = {holder(), holder(), holder()}});
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    wire::Reader in(std::string_view(bytes).substr(0, size));
    const auto seen = decode_sightings(in);
    const auto count = seen.list.size();
    EXPECT_TRUE(seen.cut || size < 3);
    EXPECT_GE(count, most);
    most = std::max(most, count);
  }
  EXPECT_EQ(most, 2U);
}

TEST(Sightings, GarbageGivesNothingMuch) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 100, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    wire::Reader in(bytes);
    EXPECT_LE(decode_sightings(in).list.size(), bytes.size() / 6);
  }
  // A number of sightings that nobody could send.
  std::string bytes;
  wire::Writer begin(bytes);
  begin.varint(0);
  begin.u8(0);
  begin.varint(~std::uint64_t{0});
  bytes += std::string(100'000, '\0');
  wire::Reader in(bytes);
  const auto seen = decode_sightings(in);
  EXPECT_EQ(seen.list.size(), most_sightings);
  EXPECT_TRUE(seen.cut);
}

// As users make them.
TEST(Sightings, FitIntoAFrameHoweverLongOneIs) {
  Sighting wide{.lock = std::string(512, 'n'), .thing = Thing::store};
  wide.resources.assign(64, {std::string(512, 't'), 1, Fence{~std::uint64_t{0}}});
  std::string bytes;
  wire::Writer out(bytes);
  encode_sightings(out, {.list = std::vector<Sighting>(100, wide)});
  EXPECT_LT(bytes.size(), wire::max_frame - 1024);
  wire::Reader in(bytes);
  EXPECT_GT(decode_sightings(in).list.size(), 20U);
}

}  // namespace
}  // namespace turno::table

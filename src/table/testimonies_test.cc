#include "table/testimonies.h"

#include <gtest/gtest.h>

#include "core/random.h"
#include "table/desk_frames.h"

namespace turno::table {
namespace {

using cluster::NamedThing;
using cluster::Testimony;

Testimony some_testimony(std::uint64_t session) {
  Testimony said{.party = {7, session}, .born = 3, .asked = 5, .client = "anna", .from = "unix"};
  said.has.push_back({.thing = {3, "hall"}, .number = 4, .group = "read"});
  said.waits.push_back({.number = 6,
                        .needs = {{.thing = {1, "gpu"}, .units = 2, .most = 4}},
                        .another_task = true,
                        .may_be_aborted = true,
                        .waiting_ms = 8});
  return said;
}

template <class Value>
std::string bytes_of(const Value& value) {
  std::string bytes;
  wire::Writer out(bytes);
  encode(out, value);
  return bytes;
}

std::optional<std::vector<Testimony>> testimonies_in(std::string_view bytes) {
  wire::Reader in(bytes);
  return decode_testimonies(in, 7);
}

TEST(Testimonies, ComeBackAsTheyWere) {
  const std::vector<Testimony> all = {some_testimony(1), some_testimony(2)};
  EXPECT_EQ(testimonies_in(bytes_of(all)), all);

  const cluster::Summons summons{.things = {{0, "disk"}, {2, "boss"}}, .everybody = true};
  const auto asked = bytes_of(summons);
  wire::Reader in(asked);
  EXPECT_EQ(decode_summons(in), summons);

  const cluster::Verdict verdict{.party = {0, 9}, .wait = 4, .text = "a circle"};
  const auto said = bytes_of(verdict);
  wire::Reader read(said);
  EXPECT_EQ(decode_verdict(read), verdict);
}

TEST(Testimonies, OfASessionWithTooManyWaitsSayThatItWaitsForNothing) {
  auto said = some_testimony(1);
  said.waits.resize(cluster::most_pending_waits + 1, said.waits[0]);
  const auto read = testimonies_in(bytes_of(std::vector{said}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->at(0).waits.empty());
}

TEST(Testimonies, FitIntoAFrameHoweverManyThereAre) {
  auto said = some_testimony(1);
  const std::string name(cluster::longest_name, 'n');
  said.has.assign(1000, {.thing = {0, name}, .number = 1, .group = name});
  const std::vector<Testimony> all(cluster::most_testimonies, said);
  std::string frame;
  wire::write_frame(frame, 1, 1, 1, [&](wire::Writer& out) { encode(out, all); });
  EXPECT_LE(frame.size(), wire::max_frame + 4);
}

TEST(Testimonies, ThatMakeNoSenseAreRefused) {
  const auto good = bytes_of(std::vector{some_testimony(1)});
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(testimonies_in(std::string_view(good).substr(0, size))) << size;
  EXPECT_FALSE(testimonies_in(good + "x"));
  auto strange = some_testimony(1);
  strange.has[0].thing.kind = 99;
  EXPECT_FALSE(testimonies_in(bytes_of(std::vector{strange})));
  strange = some_testimony(1);
  strange.waits[0].needs[0].thing.name.clear();
  EXPECT_FALSE(testimonies_in(bytes_of(std::vector{strange})));
  // Whatever comes is read or refused.
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    auto bytes = good;
    for (int changed = 0; changed < 3; ++changed)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    if (const auto read = testimonies_in(bytes)) {
      for (const auto& said : *read) EXPECT_LE(said.waits.size(), cluster::most_pending_waits);
    }
    wire::Reader in(bytes);
    (void)decode_summons(in);
    wire::Reader again(bytes);
    (void)decode_verdict(again);
  }
}

}  // namespace
}  // namespace turno::table

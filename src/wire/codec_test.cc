#include "wire/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <boost/container/small_vector.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock/lamport_clock.h"
#include "core/container/queue.h"

namespace turno::wire {
namespace {

using namespace std::string_literals;

constexpr Limits five{.nodes = 5, .epoch = 3};

struct Everything {
  enum class Kind : std::uint8_t { good, bad } kind = Kind::good;
  static constexpr std::array<std::string_view, 2> kinds = {"good", "bad"};
  bool token = false;
  std::uint8_t small = 0;
  std::uint32_t number = 0;
  std::uint64_t time = 0;
  NodeId father;
  NodeSet set;
  Queue<NodeId> queue;
  std::vector<Priority> requests;
  boost::container::small_vector<std::uint64_t, 2> served;
  LamportClock clock;
  Fence fence;
  Stamp stamp;
  [[nodiscard]] auto fields() const {
    return std::tie(kind, token, small, number, time, father, set, queue, requests, served, clock,
                    fence, stamp);
  }
  bool operator==(const Everything&) const = default;
};

struct ThreeKinds {
  enum class Kind : std::uint8_t { a, b, c } kind = Kind::a;
  static constexpr std::array<std::string_view, 3> kinds = {"a", "b", "c"};
  [[nodiscard]] auto fields() const { return std::tie(kind); }
};

template <class T>
std::string encoded(const T& value) {
  std::string out;
  Writer writer(out);
  encode(writer, value);
  return out;
}

// Whether the bytes are a whole value within the limits; it is then in `value`.
template <class T>
bool decodes(const std::string& bytes, T& value, const Limits& limits = five) {
  Reader reader(bytes);
  return decode(reader, value, limits) && reader.remaining() == 0;
}
template <class T>
bool accepts(const std::string& bytes, const Limits& limits = five) {
  T value{};
  return decodes(bytes, value, limits);
}
std::string varint(std::uint64_t value) {
  std::string out;
  Writer(out).varint(value);
  return out;
}

Everything example() {
  Everything all;
  all.kind = Everything::Kind::bad;
  all.token = true;
  all.small = 255;
  all.number = 0xffffffff;
  all.time = std::uint64_t{1} << 24;
  all.father = NodeId{4};
  all.set.insert(NodeId{0});
  all.set.insert(NodeId{3});
  all.queue = {NodeId{1}, nobody, NodeId{2}};
  all.queue.pop();  // what was popped is not sent
  all.requests = {{7, NodeId{1}}, {9, nobody}};
  all.served = {1, 2, 3};
  all.clock.observe(1000);
  all.fence = Fence::at(3, 12345);
  all.stamp = Stamp{6};
  return all;
}

TEST(Codec, SendsWhatIsListed) {
  const Everything blank;
  Everything back = example();  // decoding replaces what was there
  ASSERT_TRUE(decodes(encoded(blank), back));
  EXPECT_EQ(back, blank);
  ASSERT_TRUE(decodes(encoded(example()), back));
  EXPECT_EQ(back, example());
}

TEST(Codec, RefusesEveryTruncation) {
  const auto bytes = encoded(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(accepts<Everything>(bytes.substr(0, size))) << size;
}

TEST(Codec, LeavesWhatFollows) {
  const auto bytes = encoded(NodeId{2}) + "more";
  Reader reader(bytes);
  NodeId node;
  EXPECT_TRUE(decode(reader, node, five));
  EXPECT_EQ(reader.rest(), "more");
}

TEST(Codec, WritesNobodyAsZero) {
  EXPECT_EQ(encoded(nobody), "\0"s);
  EXPECT_EQ(encoded(NodeId{4}), "\x05");
  EXPECT_TRUE(accepts<NodeId>("\x05"));
  EXPECT_FALSE(accepts<NodeId>("\x06"));
  EXPECT_FALSE(accepts<NodeId>(varint(0xffffffff)));
  EXPECT_FALSE(accepts<NodeId>(varint(std::uint64_t{1} << 32)));
}

TEST(Codec, TakesOnlyKindsThatTheMessageHas) {
  EXPECT_TRUE(accepts<ThreeKinds>("\x02"));
  EXPECT_FALSE(accepts<ThreeKinds>("\x03"));
  EXPECT_FALSE(accepts<ThreeKinds>(varint(256)));
}

TEST(Codec, TakesOnlyBooleansThatAreZeroOrOne) {
  EXPECT_TRUE(accepts<bool>("\0"s));
  EXPECT_TRUE(accepts<bool>("\x01"));
  EXPECT_FALSE(accepts<bool>("\x02"));
}

TEST(Codec, TakesOnlyNumbersThatFit) {
  // Of five nodes: most * 5 + 4 turns fit into half of a fence's count.
  const std::uint64_t most = 26'843'544;
  EXPECT_LE(most * 5 + 4, std::uint64_t{1} << (Fence::count_bits - 1));
  EXPECT_TRUE(accepts<std::uint64_t>(varint(most)));
  EXPECT_FALSE(accepts<std::uint64_t>(varint(most + 1)));
  EXPECT_FALSE(accepts<std::uint64_t>(varint(~std::uint64_t{0})));
  EXPECT_FALSE(accepts<LamportClock>(varint(most + 1)));
  const Limits more_nodes{.nodes = 128, .epoch = 3};
  EXPECT_TRUE(accepts<std::uint64_t>(varint((std::uint64_t{1} << 20) - 1), more_nodes));
  EXPECT_FALSE(accepts<std::uint64_t>(varint(std::uint64_t{1} << 20), more_nodes));
  EXPECT_TRUE(accepts<Stamp>(varint(std::uint64_t{1} << 40)));
  EXPECT_FALSE(accepts<Stamp>(varint((std::uint64_t{1} << 40) + 1)));
  const auto beyond = std::uint64_t{1} << 32;
  EXPECT_TRUE(accepts<std::uint32_t>(varint(beyond - 1)));
  EXPECT_FALSE(accepts<std::uint32_t>(varint(beyond)));
  EXPECT_TRUE(accepts<std::uint8_t>(varint(255)));
  EXPECT_FALSE(accepts<std::uint8_t>(varint(256)));
}

TEST(Codec, TakesOnlyFencesOfThisViewOrBefore) {
  const auto most = (std::uint64_t{1} << 24) - 1;  // times sixteen, a fence's count
  Fence fence;
  ASSERT_TRUE(decodes(varint(3) + varint(most), fence));
  EXPECT_EQ(fence, Fence::at(3, most));
  EXPECT_TRUE(accepts<Fence>(varint(0) + varint(0)));
  EXPECT_FALSE(accepts<Fence>(varint(3) + varint(most + 1)));
  EXPECT_FALSE(accepts<Fence>(varint(4) + varint(0)));
  const Limits any_epoch{.nodes = 5, .epoch = 0xffffffff};
  EXPECT_TRUE(accepts<Fence>(varint(0xffffffff) + varint(0), any_epoch));
  EXPECT_FALSE(accepts<Fence>(varint(0x100000000) + varint(0), any_epoch));
}

TEST(Codec, TakesOnlyListsOfWhichEveryElementIsThere) {
  const std::string most(26, '\0');
  EXPECT_TRUE(accepts<Queue<NodeId>>(varint(26) + most));
  EXPECT_FALSE(accepts<Queue<NodeId>>(varint(27) + most + '\0'));
  EXPECT_FALSE(accepts<Queue<NodeId>>(varint(26) + most.substr(1)));
  EXPECT_FALSE(accepts<Queue<NodeId>>(varint(~std::uint64_t{0}) + most));
  EXPECT_FALSE(accepts<std::vector<Priority>>(varint(26) + most));
  // A large view allows long lists; the bytes must still be there before anything is allocated.
  const Limits large{.nodes = 0xffffffff, .epoch = 1};
  EXPECT_FALSE(accepts<std::vector<std::uint64_t>>(varint(0xffffffff) + most, large));
}

TEST(Codec, TakesOnlySetsOfNodesOfTheView) {
  EXPECT_TRUE(accepts<NodeSet>(varint(1) + varint(0b11111)));
  EXPECT_FALSE(accepts<NodeSet>(varint(1) + varint(0b100000)));
  EXPECT_FALSE(accepts<NodeSet>(varint(2) + varint(1) + varint(1)));
  EXPECT_FALSE(accepts<NodeSet>(varint(3) + "\0\0\0"s));
  EXPECT_FALSE(accepts<NodeSet>(varint(1)));
  NodeSet set;
  for (const auto node : {0, 63, 64, 130}) set.insert(NodeId{static_cast<std::size_t>(node)});
  NodeSet back;
  ASSERT_TRUE(decodes(encoded(set), back, {.nodes = 131, .epoch = 1}));
  EXPECT_EQ(back, set);
  EXPECT_FALSE(decodes(encoded(set), back, {.nodes = 130, .epoch = 1}));
  // A longer way to write a set gives the same set.
  ASSERT_TRUE(decodes(varint(2) + varint(1) + varint(0), back, {.nodes = 64, .epoch = 1}));
  EXPECT_EQ(back.words(), 1U);
}

RC_GTEST_PROP(Codec, NeverTripsOverBytes, (std::string bytes)) {
  Everything value;
  if (!decodes(bytes, value)) return;
  Everything again;
  RC_ASSERT(decodes(encoded(value), again));
  RC_ASSERT(value == again);
}

}  // namespace
}  // namespace turno::wire

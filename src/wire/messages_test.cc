// The messages of every algorithm travel: those that it really sends, and as short as they should.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/text/describe.h"
#include "protocols/list.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/testing.h"
#include "protocols/typed_testing.h"
#include "wire/codec.h"

namespace turno::wire {

using namespace protocols;
namespace {

constexpr std::size_t nodes = 7;
constexpr Limits limits{.nodes = nodes, .epoch = 1};

template <class P>
class Messages : public ::testing::Test {};

TYPED_TEST_SUITE(Messages, testing::TypesOf<Locks>, testing::AlgorithmName);

// What is on its way while everybody asks and is served, a few times.
template <class P>
std::vector<typename P::Message> conversation() {
  auto setup =
      testing::shaped(P::info.shape == Shape::ring ? Topology::ring : Topology::star, nodes);
  if (P::info.voting) setup.quorums = quorums(QuorumConstruction::grid, nodes);
  testing::Cluster<P> cluster(setup);
  std::vector<typename P::Message> sent;
  for (std::size_t turn = 0, step = 0; step < 2000; ++step) {
    for (std::size_t i = 0; i < nodes; ++i)
      if (step % 3 == 0 && !cluster.waiting(i) && !cluster.inside(i) && turn++ < 40)
        cluster.want(NodeId{i});
    for (const auto& flight : cluster.flights()) sent.push_back(flight.message);
    if (!cluster.flights().empty()) cluster.deliver_at(0);
    for (std::size_t i = 0; i < nodes; ++i)
      if (step % 5 == 0 && cluster.inside(i)) cluster.leave(NodeId{i});
  }
  return sent;
}

TYPED_TEST(Messages, ComeBackAsTheyWere) {
  const auto sent = conversation<TypeParam>();
  ASSERT_GT(sent.size(), 100U);
  std::size_t longest = 0;
  for (const auto& message : sent) {
    std::string bytes;
    Writer writer(bytes);
    encode(writer, message);
    longest = std::max(longest, bytes.size());
    Reader reader(bytes);
    typename TypeParam::Message back;
    ASSERT_TRUE(decode(reader, back, limits)) << describe_message(message);
    EXPECT_EQ(reader.remaining(), 0U);
    EXPECT_EQ(back, message) << describe_message(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Reader cut(std::string_view(bytes).substr(0, size));
      EXPECT_FALSE(decode(cut, back, limits)) << describe_message(message) << " cut to " << size;
    }
  }
  EXPECT_LE(longest, 40U);
}

}  // namespace
}  // namespace turno::wire

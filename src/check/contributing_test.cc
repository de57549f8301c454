// The algorithm that CONTRIBUTING.md shows to newcomers works as it stands there.
#include <contributing.h>
#include <gtest/gtest.h>

#include "check/explorer.h"
#include "core/topology.h"

namespace turno::check {
namespace {

TEST(Contributing, TheExampleHolds) {
  for (const auto& [nodes, holder] : {std::pair{3, -1}, std::pair{3, 0}, std::pair{3, 2}}) {
    Options options;
    Random random(1);
    options.setup.father = fathers(Topology::complete, static_cast<std::size_t>(nodes), random);
    options.requests = 2;
    if (holder >= 0) options.holdings = {{.seat = NodeId{static_cast<std::size_t>(holder)}}};
    const auto result = Explorer<protocols::Fetch>(options).run();
    EXPECT_EQ(result.verdict, Verdict::holds)
        << result.property << ": " << result.explanation << "\n"
        << conversation(result.trace);
    EXPECT_TRUE(result.acyclic);
  }
}

}  // namespace
}  // namespace turno::check

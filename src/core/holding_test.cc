#include "core/holding.h"

#include <gtest/gtest.h>

namespace turno {
namespace {

TEST(Holding, IsFoundBySeat) {
  const std::vector<Holding> holdings = {{NodeId{2}, 0, {1}}, {NodeId{0}, 0, {0, 3}}};
  EXPECT_EQ(holding_of(NodeId{0}, holdings), &holdings[1]);
  EXPECT_EQ(holding_of(NodeId{1}, holdings), nullptr);
}

TEST(Holding, TellsWhatWasAskedFor) {
  turno::Setup setup;
  setup.resources.type_of = {0, 0, 1, 2, 2};
  EXPECT_EQ(needs_of(setup, {NodeId{0}, 0, {4, 0, 3}}), (std::vector<Need>{{0, 1}, {2, 2}}));
  EXPECT_TRUE(needs_of(setup, {NodeId{0}}).empty());
}

}  // namespace
}  // namespace turno

#include "table/pools/permit_grants.h"

#include <gtest/gtest.h>

#include "table/entry.h"

namespace turno::table {
namespace {

TEST(PermitGrants, AreFoundByFenceAndOwner) {
  const Owner anna{1, "anna"}, bert{2, "bert"};
  const Fence one{7}, other{9};
  PermitGrants grants;
  EXPECT_EQ(grants.find(one, nullptr), nullptr);
  grants.add({.number = 3, .owner = &anna, .fence = one});
  grants.add({.number = 4, .owner = &anna, .fence = one});
  grants.add({.number = 5, .owner = &bert, .fence = other});
  EXPECT_EQ(grants.find(one, &anna)->number, 3U) << "the oldest";
  EXPECT_EQ(grants.find(one, &bert), nullptr);
  EXPECT_EQ(grants.find(one, nullptr)->owner, &anna);
  EXPECT_EQ(grants.find(other, nullptr)->number, 5U);
  EXPECT_EQ(grants.find(Fence{8}, nullptr), nullptr);
  grants.erase(*grants.find(one, &anna));
  EXPECT_EQ(grants.find(one, &anna)->number, 4U);
  EXPECT_EQ(grants.begin()->first, 4U);
}

}  // namespace
}  // namespace turno::table

#include "check/wishes.h"

#include <gtest/gtest.h>

namespace turno::check {
namespace {

constexpr NodeId a{0}, b{1}, c{2};

TEST(Wishes, WithoutAScriptAreOfNothingInParticular) {
  Options options;
  options.requests = 3;
  options.requesters.insert(a);
  const Wishes wishes(options);
  EXPECT_EQ(wishes.requests_of(a), 3);
  EXPECT_EQ(wishes.requests_of(b), 0) << "does not ask";
  EXPECT_EQ(wishes.choices(a), 1U);
  EXPECT_TRUE(wishes.demand(a, 3, 0).needs.empty());
}

TEST(Wishes, FollowAScriptFromItsBeginning) {
  Options options;
  options.scripts = {{{.group = 4}, {.group = 5}}, {{.group = 6}}};
  const Wishes wishes(options);
  EXPECT_EQ(wishes.requests_of(a), 2);
  EXPECT_EQ(wishes.requests_of(b), 1);
  EXPECT_EQ(wishes.requests_of(c), 0) << "has no script";
  EXPECT_EQ(wishes.demand(a, 2, 0).group, 4U);
  EXPECT_EQ(wishes.demand(a, 1, 0).group, 5U);
  EXPECT_EQ(wishes.demand(b, 1, 0).group, 6U);
}

TEST(Wishes, ChooseFromAMenu) {
  Options options;
  options.menus = {{{.group = 1}, {.group = 2}}};
  const Wishes wishes(options);
  EXPECT_EQ(wishes.choices(b), 2U) << "one menu is for all";
  EXPECT_EQ(wishes.demand(b, 1, 1).group, 2U);
}

TEST(Wishes, ForEverHaveNoNumber) {
  Options options;
  options.forever = true;
  EXPECT_EQ(Wishes(options).requests_of(a), 0);
  EXPECT_TRUE(Wishes(options).asks(a));
}

}  // namespace
}  // namespace turno::check

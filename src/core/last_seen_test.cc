#include "core/last_seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace turno {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Units = std::vector<std::uint32_t>;

Facts in_use(std::initializer_list<std::uint32_t> units, std::uint64_t grant = 1) {
  Facts facts;
  for (const auto unit : units) facts.set({.unit = unit, .grant = grant});
  return facts;
}
// One witness of one that is gone, or two of them.
AllLastSeen one(const LastSeen& seen) { return {seen}; }
Units found(const std::vector<AllLastSeen>& witnesses) {
  Units units;
  const auto perhaps = may_be_gone(witnesses, 10);
  for (std::uint32_t unit = 0; unit < perhaps.size(); ++unit)
    if (perhaps[unit]) units.push_back(unit);
  return units;
}

TEST(LastSeen, WhoHasNotAskedHasWhatItHadAtTheBeginning) {
  EXPECT_THAT(found({one({.held = {4, 7}, .most = 2})}), ElementsAre(4, 7));
  EXPECT_THAT(found({}), IsEmpty());
}

TEST(LastSeen, WhoWasAnsweredMayHaveTheSmallestThatNobodyNamed) {
  const LastSeen asked{.time = 5, .want = 2, .held = {6}, .most = 3, .answered = true};
  auto first = asked, second = asked;
  first.told = in_use({0, 2});
  second.told = in_use({3});
  EXPECT_THAT(found({one(first), one(second)}), ElementsAre(1, 4, 6));
}

TEST(LastSeen, WhoWasNotAnsweredByAllWasGrantedNothing) {
  const LastSeen asked{.time = 5, .want = 2, .held = {6}, .most = 3, .answered = true};
  EXPECT_THAT(found({one(asked), one({.time = 5, .want = 2, .held = {6}})}), ElementsAre(6));
  EXPECT_THAT(found({one(asked), one({.time = 3, .held = {1}, .answered = true})}), ElementsAre(6));
}

// The release may have come before it chose, or not.
TEST(LastSeen, WhatItWasToldOfAReleaseItMayHaveTaken) {
  LastSeen asked{.time = 5, .want = 1, .most = 1, .answered = true, .told = in_use({0, 1})};
  asked.told.merge({.unit = 1, .grant = 1, .freed = true});
  EXPECT_THAT(found({one(asked)}), ElementsAre(1, 2));
}

TEST(LastSeen, OfAUnitTheNewestGrantCounts) {
  LastSeen before{.time = 5, .want = 1, .most = 1, .answered = true, .told = in_use({0}, 1)};
  auto after = before;
  after.told = in_use({0}, 2);
  EXPECT_THAT(found({one(before), one(after)}), ElementsAre(1));
  after.told.merge({.unit = 0, .grant = 2, .freed = true});
  EXPECT_THAT(found({one(before), one(after)}), ElementsAre(0, 1));
}

// What the second has said to the first nobody knows.
TEST(LastSeen, OfSeveralEachMayHaveBeenToldOfAsManyAsTheOthersHad) {
  const LastSeen first{.time = 5, .want = 1, .most = 1, .answered = true};
  const LastSeen second{.time = 4, .want = 2, .held = {8}, .most = 3, .answered = true};
  EXPECT_THAT(found({{first, second}}), ElementsAre(0, 1, 2, 3, 8));
}

}  // namespace
}  // namespace turno

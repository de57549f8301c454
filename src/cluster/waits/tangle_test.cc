#include "cluster/waits/tangle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/waits/waits_testing.h"

namespace turno::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const NamedThing disk{0, "disk"}, tape{0, "tape"}, tray{0, "tray"}, gpu{1, "gpu"}, hall{3, "hall"};
constexpr Party anna{1, 1}, bert{2, 2}, cleo{1, 3}, dora{3, 4};

Need all_of(const NamedThing& thing) { return {.thing = thing}; }
Need some_of(const NamedThing& thing, std::uint32_t units, std::uint32_t most) {
  return {.thing = thing, .units = units, .most = most};
}
Need inside(const std::string& group) {
  return {.thing = hall, .most = Need::unlimited, .group = group};
}

Tangle all_that_is_true(const TrueWaits& world, Tangle::Without without = {}) {
  Tangle tangle(without);
  for (const auto& [party, session] : world.all()) tangle.add(world.testimony_of(party));
  return tangle;
}

TEST(Tangle, TwoThatWaitForEachOtherAreAKnot) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(bert, all_of(tape));
  world.ask(anna, all_of(tape));
  EXPECT_THAT(all_that_is_true(world).stuck(), IsEmpty());
  world.ask(bert, all_of(disk));
  EXPECT_THAT(all_that_is_true(world).knots(), ElementsAre(ElementsAre(anna, bert)));
}

TEST(Tangle, WhoWaitsForAKnotIsStuckAndNotInIt) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(bert, all_of(tape));
  world.ask(cleo, all_of(tray));
  world.ask(anna, all_of(tape));
  world.ask(bert, all_of(disk));
  world.ask(cleo, all_of(disk));
  const auto tangle = all_that_is_true(world);
  EXPECT_THAT(tangle.stuck(), UnorderedElementsAre(anna, bert, cleo));
  EXPECT_THAT(tangle.knots(), ElementsAre(ElementsAre(anna, bert)));
}

TEST(Tangle, ACircleIsToldFromWhereOneLikes) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(bert, all_of(tape));
  world.ask(cleo, all_of(tray));
  world.ask(anna, all_of(tape));
  world.ask(bert, all_of(tray));
  world.ask(cleo, all_of(disk));
  const auto tangle = all_that_is_true(world);
  ASSERT_EQ(tangle.knots().size(), 1U);
  const auto circle = tangle.circle(bert, tangle.knots()[0]);
  ASSERT_EQ(circle.size(), 3U);
  EXPECT_EQ(circle[0].who->party, bert);
  EXPECT_EQ(circle[0].has->thing, tape);
  EXPECT_EQ(circle[0].wants->thing, tray);
  EXPECT_EQ(circle[1].who->party, cleo);
  EXPECT_EQ(circle[1].has->thing, tray);
  EXPECT_EQ(circle[1].wants->thing, disk);
  EXPECT_EQ(circle[2].who->party, anna);
  EXPECT_EQ(circle[2].has->thing, disk);
  EXPECT_EQ(circle[2].wants->thing, tape);
}

TEST(Tangle, AChainBeginsWithAThingAndTellsOfEverybodyOnce) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(bert, all_of(tape));
  world.ask(cleo, all_of(tray));
  world.ask(anna, all_of(tape));
  world.ask(bert, all_of(tray));
  auto tangle = all_that_is_true(world);
  const auto chain = tangle.chain(disk, 10);
  ASSERT_EQ(chain.size(), 3U);
  EXPECT_EQ(chain[0].who->party, anna);
  EXPECT_EQ(chain[0].wants->thing, tape);
  EXPECT_EQ(chain[1].who->party, bert);
  EXPECT_EQ(chain[1].wants->thing, tray);
  EXPECT_EQ(chain[2].who->party, cleo);
  EXPECT_EQ(chain[2].wait, nullptr);
  EXPECT_EQ(tangle.chain(disk, 2).size(), 2U);
  world.ask(cleo, all_of(disk));
  tangle = all_that_is_true(world);
  EXPECT_EQ(tangle.chain(disk, 10).size(), 3U);
  EXPECT_THAT(tangle.chain(gpu, 10), IsEmpty());
}

TEST(Tangle, TheChainOfAStoreBeginsWithAllItsTypes) {
  TrueWaits world;
  const NamedThing store{4, "lab"}, laser{4, "lab", "laser"}, oven{4, "lab", "oven"};
  world.ask(anna, all_of(laser));
  world.ask(bert, all_of(oven));
  const auto tangle = all_that_is_true(world);
  EXPECT_EQ(tangle.chain(store, 10).size(), 2U);
  EXPECT_EQ(tangle.chain(oven, 10).size(), 1U);
}

// Docs: the four conditions are not sufficient.
TEST(Tangle, APermitThatSomebodyElseWillGiveBackIsWaitedForWithHope) {
  TrueWaits world;
  world.ask(anna, some_of(gpu, 1, 2));
  world.ask(cleo, some_of(gpu, 1, 2));
  world.ask(bert, all_of(disk));
  world.ask(anna, all_of(disk));
  world.ask(bert, some_of(gpu, 1, 2));
  EXPECT_THAT(all_that_is_true(world).stuck(), IsEmpty());
  world.ask(cleo, all_of(disk));
  EXPECT_THAT(all_that_is_true(world).knots(), ElementsAre(ElementsAre(anna, cleo, bert)));
}

TEST(Tangle, WhoWantsManyPermitsWaitsForEachWhoHasSome) {
  TrueWaits world;
  world.ask(anna, some_of(gpu, 1, 3));
  world.ask(cleo, some_of(gpu, 1, 3));
  world.ask(bert, all_of(disk));
  world.ask(bert, some_of(gpu, 3, 3));
  world.ask(anna, all_of(disk));
  EXPECT_THAT(all_that_is_true(world).knots(), ElementsAre(ElementsAre(anna, bert)));
}

TEST(Tangle, OneOfAnotherGroupIsEnoughToKeepARoomShut) {
  TrueWaits world;
  world.ask(anna, inside("read"));
  world.ask(cleo, inside("read"));
  world.ask(bert, all_of(disk));
  world.ask(bert, inside("write"));
  world.ask(anna, all_of(disk));
  EXPECT_THAT(all_that_is_true(world).knots(), ElementsAre(ElementsAre(anna, bert)));
}

TEST(Tangle, WhoWaitsForSeveralThingsIsStuckIfNoneOfThemCanBeHad) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(bert, all_of(tape));
  world.ask(cleo, all_of(tray));
  world.ask(bert, all_of(disk));
  world.ask(anna, all_of(tape), false);
  const auto other = world.ask(anna, all_of(tray), false);
  EXPECT_THAT(all_that_is_true(world).stuck(), IsEmpty());
  world.withdraw(anna, other);
  EXPECT_THAT(all_that_is_true(world).knots(), ElementsAre(ElementsAre(anna, bert)));
}

TEST(Tangle, AnotherTaskGivesBackWhatATaskOfTheSameSessionWaitsFor) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  const auto task = world.ask(anna, all_of(disk), false);
  EXPECT_THAT(all_that_is_true(world).stuck(), IsEmpty());
  world.withdraw(anna, task);
  world.ask(anna, all_of(disk), true);  // by a command: nobody will
  EXPECT_THAT(all_that_is_true(world).knots(), ElementsAre(ElementsAre(anna)));
}

TEST(Tangle, TheYoungestIsTheOneThatBeganLastAndMayBeAborted) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(dora, all_of(tape));
  world.ask(anna, all_of(tape));
  world.ask(dora, all_of(disk));
  EXPECT_EQ(all_that_is_true(world).youngest({anna, dora}), dora);
  Tangle tangle;
  tangle.add(world.testimony_of(anna));
  auto spared = world.testimony_of(dora);
  spared.waits[0].may_be_aborted = false;
  tangle.add(spared);
  EXPECT_EQ(tangle.youngest({anna, dora}), anna);
}

TEST(Tangle, OnlyWhatIsStillSoIsBelieved) {
  TrueWaits world;
  world.ask(anna, all_of(disk));
  world.ask(bert, all_of(tape));
  world.ask(anna, all_of(tape));
  const auto wait = world.ask(bert, all_of(disk));
  const auto before = all_that_is_true(world);
  EXPECT_EQ(before.still_so(before).stuck().size(), 2U);
  world.withdraw(bert, wait);
  EXPECT_THAT(before.still_so(all_that_is_true(world)).stuck(), IsEmpty());
  world.ask(bert, all_of(disk));  // again: it is stuck now, but was it in between?
  EXPECT_THAT(before.still_so(all_that_is_true(world)).stuck(), IsEmpty());
  EXPECT_EQ(all_that_is_true(world).stuck().size(), 2U);
}

// A dumb twin: everybody goes on who can, until nobody can.
TEST(Tangle, FindsExactlyThoseWhoNeverGoOn) {
  Random random(7);
  int tangled = 0;
  for (int i = 0; i < 3000; ++i) {
    TrueWaits world;
    const std::vector<Need> needs = {all_of(disk),       all_of(tape),   some_of(gpu, 1, 2),
                                     some_of(gpu, 2, 2), inside("read"), inside("write")};
    for (int asked = 0; asked < 12; ++asked) {
      const Party party{random.below(2), random.below(4)};
      world.begin(party);
      const auto& waits = world.of(party).waits;
      if (std::ranges::any_of(waits, &TrueWaits::Wait::by_command)) continue;
      world.ask(party, needs[random.below(needs.size())], waits.empty() && random.below(3) > 0);
    }
    const auto truth = world.who_never_goes_on();
    tangled += truth.empty() ? 0 : 1;
    ASSERT_EQ(all_that_is_true(world).stuck(), truth) << "world " << i;
    ASSERT_EQ(all_that_is_true(world).knots().empty(), truth.empty()) << "world " << i;
  }
  EXPECT_GT(tangled, 300);
}

}  // namespace
}  // namespace turno::cluster

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/policies/collective.h"
#include "protocols/policies/ordered.h"
#include "protocols/policies/preemption.h"

namespace turno::protocols {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ResourceId disk = 0, tape = 1, printer = 2;
constexpr SessionId ana = 0, bob = 1, eva = 2;

TEST(Collective, GivesAllOrNothing) {
  Collective table(3);
  EXPECT_EQ(table.request(ana, {disk, tape}), Collective::Answer::granted);
  EXPECT_EQ(table.request(bob, {tape, printer}), Collective::Answer::waits);
  EXPECT_THAT(table.held().of(bob), IsEmpty()) << "not even the printer, which is free";
  EXPECT_THAT(table.release(ana), ElementsAre(bob));
  EXPECT_THAT(table.held().of(bob), ElementsAre(tape, printer));
}

TEST(Collective, RefusesASecondRequestOfWhoHoldsSomething) {
  Collective table(2);
  table.request(ana, {disk});
  EXPECT_EQ(table.request(ana, {tape}), Collective::Answer::holds_already);
  table.release(ana);
  EXPECT_EQ(table.request(ana, {disk, tape}), Collective::Answer::granted);
}

TEST(Collective, ServesInTurnOnlyThoseWhoWantTheSame) {
  Collective table(3);
  table.request(ana, {disk});
  EXPECT_EQ(table.request(bob, {disk, tape}), Collective::Answer::waits);
  EXPECT_EQ(table.request(eva, {tape}), Collective::Answer::waits) << "bob was first";
  EXPECT_EQ(table.request(3, {printer}), Collective::Answer::granted);
  EXPECT_THAT(table.release(ana), ElementsAre(bob));
  EXPECT_THAT(table.release(bob), ElementsAre(eva));
}

TEST(Collective, MayServeSeveralAtOnce) {
  Collective table(2);
  table.request(ana, {disk, tape});
  table.request(bob, {tape});
  table.request(eva, {disk});
  EXPECT_THAT(table.release(ana), ElementsAre(bob, eva));
}

TEST(Collective, ThatRetriesLetsTheSmallOvertakeTheLarge) {
  Collective table(2, Waiting::retry);
  table.request(ana, {disk});
  EXPECT_EQ(table.request(bob, {disk, tape}), Collective::Answer::waits);
  EXPECT_FALSE(table.waits(bob)) << "it is on its own";
  EXPECT_EQ(table.request(eva, {tape}), Collective::Answer::granted);
}

TEST(Ordered, LetsAskOnlyForWhatRanksHigherThanAllThatIsHeld) {
  Ordered table({1, 2, 3});
  EXPECT_EQ(table.request(ana, tape), Ordered::Answer::granted);
  EXPECT_EQ(table.request(ana, disk), Ordered::Answer::out_of_order);
  EXPECT_EQ(table.request(ana, printer), Ordered::Answer::granted);
  table.release(printer);
  EXPECT_EQ(table.request(ana, disk), Ordered::Answer::out_of_order) << "the tape is still held";
  table.release(tape);
  EXPECT_EQ(table.request(ana, disk), Ordered::Answer::granted);
}

TEST(Ordered, OfEqualRankOnlyOneCanBeHeld) {
  Ordered table({1, 1});
  table.request(ana, 0);
  EXPECT_EQ(table.request(ana, 1), Ordered::Answer::out_of_order);
}

TEST(Ordered, ServesEachResourceInTurn) {
  Ordered table({1, 2, 3});
  table.request(ana, disk);
  EXPECT_EQ(table.request(bob, disk), Ordered::Answer::waits);
  EXPECT_EQ(table.request(eva, disk), Ordered::Answer::waits);
  EXPECT_EQ(table.release(disk), bob);
  EXPECT_EQ(table.release(disk), eva);
  EXPECT_EQ(table.release(disk), std::nullopt);
  EXPECT_TRUE(table.held().free(disk));
}

TEST(Preemption, TakesFromWhoWaits) {
  Preemption table(2);
  table.request(ana, disk);
  table.request(bob, tape);
  EXPECT_EQ(table.request(ana, tape), (Preemption::Answer{})) << "bob does not wait";
  EXPECT_EQ(table.request(bob, disk), (Preemption::Answer{true, ana}));
  EXPECT_THAT(table.held().of(ana), IsEmpty());
  EXPECT_THAT(table.release(bob), ElementsAre(ana));
  EXPECT_THAT(table.held().of(ana), ElementsAre(disk, tape));
}

TEST(Preemption, LetsGoOnlyWithAllThatWasAskedAndLost) {
  Preemption table(2);
  table.request(ana, disk);
  table.request(bob, tape);
  table.request(ana, tape);
  table.request(eva, disk);  // ana waits, and loses it
  EXPECT_THAT(table.release(bob), IsEmpty()) << "ana lacks the disk too";
  EXPECT_TRUE(table.waits(ana));
  EXPECT_THAT(table.release(eva), ElementsAre(ana));
}

}  // namespace
}  // namespace turno::protocols

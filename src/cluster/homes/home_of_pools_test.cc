// What the home of a semaphore keeps for the dead, by what the living say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/home.h"

namespace turno::cluster {
namespace {

using ::testing::ElementsAre;

// Three members are left of four; there are five permits, and the first member asks for one.
class KeptPermits : public ::testing::Test {
 protected:
  KeptPermits() {
    NodeSet all;
    for (std::size_t i = 0; i < 3; ++i) all.insert(NodeId{i});
    home_.begin(all, 0, false);
  }

  // One that is gone asked for one permit when it had this one, and was answered.
  static Evidence evidence(Instance instance, std::uint32_t had, std::uint32_t witnesses = 3) {
    return {.instance = instance,
            .witnesses = witnesses,
            .gone = {{.time = 1, .want = 1, .held = {had}, .most = 2, .answered = true}}};
  }
  void report(std::size_t member, std::vector<Evidence> said, std::vector<Holding> holdings = {}) {
    receive(member, {.kind = Note::Kind::report,
                     .holdings = std::move(holdings),
                     .permits = 5,
                     .evidence = std::move(said)});
  }
  void receive(std::size_t member, const Note& note) {
    Letters letters;
    home_.receive(context_, NodeId{member}, note, false, letters);
  }
  // Of the instance that is born when the last one has reported.
  [[nodiscard]] std::vector<std::uint32_t> kept() {
    receive(0, {.kind = Note::Kind::open, .permits = 5});
    EXPECT_TRUE(home_.lives());
    const auto* holding = holding_of(NodeId{0}, home_.holdings);
    if (holding == nullptr) return {};
    return {holding->units.begin(), holding->units.end()};
  }

  Ledger ledger_{.delayed = true};
  Context context_{.self = NodeId{0},
                   .home = NodeId{0},
                   .ledger = &ledger_,
                   .rules = {.tries = false},
                   .kind = Primitive::semaphore};
  Home home_;
};

TEST_F(KeptPermits, AreThoseThatWhoIsGoneMayHave) {
  for (std::size_t i = 0; i < 3; ++i) report(i, {evidence(7, 3)});
  EXPECT_THAT(kept(), ElementsAre(0, 3));
}

TEST_F(KeptPermits, AreNotThoseOfTheLiving) {
  report(0, {evidence(7, 3)});
  report(1, {evidence(7, 3)}, {{.seat = NodeId{1}, .units = {0}}});
  report(2, {evidence(7, 3)});
  EXPECT_THAT(kept(), ElementsAre(3));
}

TEST_F(KeptPermits, AreAllIfOneWhoTookPartSaysNothing) {
  report(0, {evidence(7, 3)});
  report(1, {evidence(7, 3)});
  receive(2, {.kind = Note::Kind::reported});
  EXPECT_THAT(kept(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(KeptPermits, AreAllIfSomebodySpeaksOfAnEarlierInstance) {
  report(0, {evidence(7, 3)});
  report(1, {evidence(7, 3)});
  report(2, {evidence(6, 2)});
  EXPECT_THAT(kept(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(KeptPermits, AreAllIfNobodySaysAnything) {
  for (std::size_t i = 0; i < 3; ++i) receive(i, {.kind = Note::Kind::reported});
  EXPECT_THAT(kept(), ElementsAre(0, 1, 2, 3, 4));
}

// The home of that instance knows whom it has told of it.
TEST_F(KeptPermits, DoNotWaitForWhoWasNotTold) {
  report(0, {evidence(7, 3, 2)});
  report(1, {evidence(7, 3)});
  receive(2, {.kind = Note::Kind::reported});
  EXPECT_THAT(kept(), ElementsAre(0, 3));
}

TEST_F(KeptPermits, AreThoseOfACrashBeforeToo) {
  auto of_the_home = evidence(7, 3);
  of_the_home.kept = {4};
  report(0, {of_the_home});
  report(1, {evidence(7, 3)});
  report(2, {evidence(7, 3)});
  EXPECT_THAT(kept(), ElementsAre(0, 3, 4));
}

// Also if the instance is retired, and who lives has given back meanwhile what it had.
TEST_F(KeptPermits, AreTheSameInTheNextInstance) {
  report(0, {evidence(7, 3)});
  report(1, {evidence(7, 3)}, {{.seat = NodeId{1}, .units = {0}}});
  report(2, {evidence(7, 3)});
  EXPECT_THAT(kept(), ElementsAre(3));
  Letters letters;
  const auto ended = home_.instance;
  home_.retire(context_, letters);
  for (std::size_t i = 0; i < 2; ++i)
    receive(i, {.kind = Note::Kind::report, .instance = ended, .permits = 5});
  EXPECT_THAT(kept(), ElementsAre(3));
}

}  // namespace
}  // namespace turno::cluster

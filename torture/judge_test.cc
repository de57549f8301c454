#include "judge.h"

#include <gtest/gtest.h>

namespace turno::torture {
namespace {

Verdict judge_holds(std::vector<Hold> holds) { return judge({.holds = std::move(holds)}); }

bool says(const Verdict& verdict, std::string_view what) {
  return verdict.violations.size() == 1 && verdict.violations[0].find(what) != std::string::npos;
}

TEST(Judge, AcceptsHoldsThatFollowEachOther) {
  const auto verdict =
      judge_holds({{.client = 1, .fence = 2, .asked = 5, .granted = 20, .ended = 30},
                   {.client = 0, .fence = 1, .granted = 10, .ended = 20},
                   {.client = 0, .lock = 1, .fence = 1, .granted = 15, .ended = 40}});
  EXPECT_TRUE(verdict.violations.empty());
  EXPECT_EQ(verdict.holds, 3U);
  EXPECT_EQ(verdict.hand_overs, 1U);
  EXPECT_EQ(verdict.longest_wait, 15);
}

TEST(Judge, SeesTwoAtOnce) {
  EXPECT_TRUE(says(judge_holds({{.client = 0, .fence = 1, .granted = 10, .ended = 21},
                                {.client = 1, .fence = 2, .granted = 20, .ended = 30}}),
                   "at once"));
}

TEST(Judge, SeesALongHoldBehindAShortOne) {
  const auto verdict = judge_holds({{.client = 0, .fence = 1, .granted = 10, .ended = 90},
                                    {.client = 1, .fence = 2, .granted = 20, .ended = 30},
                                    {.client = 2, .fence = 3, .granted = 40, .ended = 50}});
  EXPECT_EQ(verdict.violations.size(), 2U);
}

TEST(Judge, SeesAFenceThatDoesNotGrow) {
  for (const std::uint64_t later : {1U, 2U})
    EXPECT_TRUE(says(judge_holds({{.client = 0, .fence = 2, .granted = 10, .ended = 20},
                                  {.client = 0, .fence = later, .granted = 20, .ended = 30}}),
                     "went back"));
}

TEST(Judge, SeesAPermitThatTwoHaveOrThatThereIsNot) {
  const auto judge_permits = [](std::vector<Hold> holds) {
    return judge({.holds = std::move(holds), .permits = 2});
  };
  EXPECT_TRUE(judge_permits({{.client = 0, .permit = 0, .fence = 5, .granted = 10, .ended = 50},
                             {.client = 1, .permit = 1, .fence = 4, .granted = 20, .ended = 30}})
                  .violations.empty());
  EXPECT_TRUE(
      says(judge_permits({{.client = 0, .permit = 1, .fence = 1, .granted = 10, .ended = 50},
                          {.client = 2, .permit = 0, .fence = 2, .granted = 11, .ended = 12},
                          {.client = 1, .permit = 1, .fence = 3, .granted = 20, .ended = 30}}),
           "at once"));
  EXPECT_TRUE(
      says(judge_permits({{.client = 0, .permit = 1, .fence = 3, .granted = 10, .ended = 15},
                          {.client = 1, .permit = 1, .fence = 2, .granted = 20, .ended = 30}}),
           "went back"));
  EXPECT_TRUE(says(judge_permits({{.permit = 2, .fence = 1, .granted = 10, .ended = 15}}),
                   "there is no permit 2"));
}

// ---- rooms

Verdict judge_rooms(std::vector<Hold> visits) {
  return judge({.holds = std::move(visits), .rooms = true, .move = false});
}

TEST(JudgeOfRooms, AcceptsThatManyOfOneGroupAreTogether) {
  const auto verdict =
      judge_rooms({{.client = 0, .group = 1, .fence = 5, .granted = 10, .ended = 50},
                   {.client = 1, .group = 1, .fence = 5, .granted = 20, .ended = 30},
                   {.client = 2, .group = 1, .fence = 5, .granted = 40, .ended = 60},
                   {.client = 1, .group = 2, .fence = 6, .granted = 60, .ended = 70},
                   {.client = 3, .lock = 1, .group = 7, .fence = 1, .granted = 15, .ended = 90}});
  EXPECT_TRUE(verdict.violations.empty());
  EXPECT_EQ(verdict.hand_overs, 1U);
  EXPECT_EQ(verdict.most_together, 2U);
}

TEST(JudgeOfRooms, SeesTwoGroupsAtOnce) {
  EXPECT_TRUE(says(judge_rooms({{.client = 0, .group = 1, .fence = 5, .granted = 10, .ended = 50},
                                {.client = 1, .group = 1, .fence = 5, .granted = 20, .ended = 30},
                                {.client = 2, .group = 2, .fence = 6, .granted = 40, .ended = 60}}),
                   "at once"));
}

TEST(JudgeOfRooms, SeesMoreThanMayBeInside) {
  const std::vector<Hold> two = {
      {.client = 0, .group = 1, .capacity = 2, .fence = 5, .granted = 10, .ended = 50},
      {.client = 1, .group = 1, .capacity = 2, .fence = 5, .granted = 20, .ended = 60}};
  EXPECT_TRUE(judge_rooms(two).violations.empty());
  auto three = two;
  three.push_back({.client = 2, .group = 1, .capacity = 2, .fence = 5, .granted = 49, .ended = 70});
  EXPECT_TRUE(says(judge_rooms(three), "more than 2"));
  three.back().granted = 50;
  EXPECT_TRUE(judge_rooms(three).violations.empty());
}

TEST(JudgeOfRooms, SeesFencesThatAreNotAsPromised) {
  const Hold first = {.client = 0, .group = 1, .fence = 5, .granted = 10, .ended = 20};
  Hold next = {.client = 1, .group = 1, .fence = 5, .granted = 20, .ended = 30};
  EXPECT_TRUE(judge_rooms({first, next}).violations.empty()) << "one visit of a group";
  next.group = 2;
  EXPECT_TRUE(says(judge_rooms({first, next}), "went back")) << "another group";
  next.group = 1;
  next.capacity = 1;
  EXPECT_TRUE(says(judge_rooms({first, next}), "went back")) << "each has its own";
  next.capacity = 0;
  next.fence = 4;
  EXPECT_TRUE(says(judge_rooms({first, next}), "went back"));
  next.fence = 6;
  EXPECT_TRUE(judge_rooms({first, next}).violations.empty());
  next.granted = 19;
  EXPECT_TRUE(says(judge_rooms({first, next}), "different fences")) << "they were together";
}

TEST(JudgeOfRooms, WhoDoesNotMoveHasTheLockDelayWhenItsNodeLeaves) {
  Story story{
      .holds = {{.client = 0, .group = 1, .fence = 1, .granted = 10, .ended = 90},
                {.client = 1, .group = 2, .fence = 2, .granted = 30, .ended = 60, .node = 1}},
      .nodes = {{.told_to_leave = 20}, {}},
      .rooms = true,
      .move = false,
      .lock_delay = 10};
  EXPECT_TRUE(judge(story).violations.empty());
  story.holds[1].granted = 29;
  EXPECT_TRUE(says(judge(story), "at once"));
}

// While a run goes on.
TEST(Judge, DoesNotGuessTheEndOfAHold) {
  EXPECT_TRUE(judge_holds({{.client = 0, .fence = 1, .granted = 10, .ended = 0},
                           {.client = 1, .fence = 2, .granted = 20, .ended = 0}})
                  .violations.empty());
}

// ---- time to live: what was renewed is believed for longer

TEST(Judge, DoesNotTrustAHoldLongerThanItsTime) {
  EXPECT_TRUE(judge_holds({{.client = 0, .fence = 1, .granted = 10, .ended = 50, .expires = 20},
                           {.client = 1, .fence = 2, .granted = 20, .ended = 30}})
                  .violations.empty());
}

TEST(Judge, TrustsARenewal) {
  // RENEW was asked at 15 for ten more, and the node answered 1.
  EXPECT_TRUE(
      says(judge_holds({{.client = 0, .fence = 1, .granted = 10, .ended = 50, .expires = 25},
                        {.client = 1, .fence = 2, .granted = 20, .ended = 30}}),
           "at once"));
}

// ---- crashes: a client may be asleep when its node is killed, but for the lock delay

TEST(Judge, AClientOfAKilledNodeHasTheLockDelay) {
  const Story early{.holds = {{.client = 0, .fence = 1, .granted = 10, .ended = 200, .node = 0},
                              {.client = 1, .fence = 2, .granted = 119, .ended = 130, .node = 1}},
                    .nodes = {{.killed = 20}, {}},
                    .lock_delay = 100};
  EXPECT_TRUE(says(judge(early), "at once"));
  auto late = early;
  late.holds[1].granted = 120;
  EXPECT_TRUE(judge(late).violations.empty());
}

TEST(Judge, AGrantThatIsReadAfterTheDelayIsNone) {
  EXPECT_TRUE(judge({.holds = {{.client = 0, .fence = 1, .granted = 125, .ended = 126, .node = 0},
                               {.client = 1, .fence = 2, .granted = 121, .ended = 130, .node = 1}},
                     .nodes = {{.killed = 20}, {}},
                     .lock_delay = 100})
                  .violations.empty());
}

TEST(Judge, MeasuresHowSoonSomebodySucceedsTheDead) {
  const Hold held{.client = 0, .fence = 1, .granted = 10, .ended = 25, .node = 0};
  const Hold next{.client = 1, .fence = 2, .asked = 15, .granted = 130, .ended = 140, .node = 1};
  const auto measure = [](const Hold& first, const Hold& second) {
    return judge({.holds = {first, second}, .nodes = {{.killed = 20}, {}}, .lock_delay = 100});
  };
  EXPECT_EQ(measure(held, next).successions, 1U);
  EXPECT_EQ(measure(held, next).longest_succession, 110);
  auto late = next;
  late.asked = 21;
  EXPECT_EQ(measure(held, late).successions, 0U) << "nobody waited when it died";
  auto given_back = held;
  given_back.ended = 19;
  EXPECT_EQ(measure(given_back, next).successions, 0U);
}

// ---- leaves in good order

TEST(Judge, LetsNobodyInBecauseANodeLeaves) {
  const Story story{.holds = {{.client = 0, .fence = 1, .granted = 10, .ended = 50, .node = 0},
                              {.client = 1, .fence = 2, .granted = 43, .ended = 60, .node = 1}},
                    .nodes = {{.told_to_leave = 20}, {}, {}},
                    .lock_delay = 10};
  EXPECT_TRUE(says(judge(story), "at once"));
  // But its client may have moved to one that was killed since.
  auto killed = story;
  killed.nodes[2].killed = 33;
  const auto verdict = judge(killed);
  EXPECT_TRUE(verdict.violations.empty());
  EXPECT_EQ(verdict.overlaps_at_leave, 1U);
  EXPECT_EQ(verdict.longest_at_leave, 7);
  killed.nodes[2].killed = 34;
  EXPECT_TRUE(says(judge(killed), "at once")) << "the lock delay was not over";
  killed.nodes[2].killed = 15;
  EXPECT_TRUE(says(judge(killed), "at once")) << "before it could have moved there";
}

// ---- patience

TEST(Judge, SeesALongWait) {
  const Story story{.holds = {{.fence = 1, .asked = 0, .granted = 101, .ended = 110}},
                    .longest_wait = 100};
  EXPECT_TRUE(says(judge(story), "waited"));
  auto short_one = story;
  short_one.holds[0].asked = 1;
  EXPECT_TRUE(judge(short_one).violations.empty());
}

TEST(Judge, SeesALongWaitThatWasNotGranted) {
  EXPECT_TRUE(says(judge({.waits = {{.asked = 0, .ended = 101}}, .longest_wait = 100}), "waited"));
  EXPECT_TRUE(
      judge({.waits = {{.asked = 0, .ended = 99}}, .longest_wait = 100}).violations.empty());
}

TEST(Judge, ExcusesStopsAndLockDelaysOnce) {
  const Story story{.waits = {{.asked = 0, .ended = 160}},
                    .nodes = {{.killed = 50}},
                    .stops = {{.from = 10, .to = 40}, {.from = 20, .to = 60, .client = 3}},
                    .lock_delay = 20,
                    .longest_wait = 100};
  EXPECT_TRUE(judge(story).violations.empty());  // 60 of them are excused
  EXPECT_EQ(judge(story).longest_counted, 100);
  auto longer = story;
  longer.waits[0].ended = 161;
  EXPECT_TRUE(says(judge(longer), "waited"));
}

// ---- fairness

Story overtaken(std::int64_t times) {
  Story story{.waits = {{.client = 9, .asked = 5, .ended = 1000}}, .most_overtakings = 10};
  for (std::int64_t i = 0; i < times; ++i)
    story.holds.push_back({.client = static_cast<std::uint32_t>(i % 2),
                           .fence = static_cast<std::uint64_t>(i + 1),
                           .asked = 10 * i + 9,
                           .granted = 10 * i + 10,
                           .ended = 10 * i + 20});
  return story;
}

TEST(Judge, SeesOneThatOthersOvertake) {
  EXPECT_TRUE(says(judge(overtaken(11)), "overtaken 11 times"));
  EXPECT_TRUE(judge(overtaken(10)).violations.empty());
}

TEST(Judge, DoesNotCountWhatAStoppedOneMissed) {
  auto story = overtaken(20);
  story.stops = {{.from = 0, .to = 105}};  // a node
  EXPECT_TRUE(judge(story).violations.empty());
  story.stops[0].client = 9;  // the one that waits
  EXPECT_TRUE(judge(story).violations.empty());
  story.stops[0].client = 1;  // another one
  EXPECT_TRUE(says(judge(story), "overtaken 20 times"));
}

}  // namespace
}  // namespace turno::torture

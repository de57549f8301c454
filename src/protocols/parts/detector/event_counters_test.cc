#include "protocols/parts/detector/event_counters.h"

#include <gtest/gtest.h>

namespace turno::protocols {
namespace {

constexpr NodeId n1{1}, n3{3}, n70{70};

TEST(EventCounters, TrustEverybodyAtFirst) {
  const EventCounters news;
  EXPECT_FALSE(news.suspects(n70));
  EXPECT_TRUE(news.suspects().empty());
  EXPECT_EQ(news.known(), 0U);
}

TEST(EventCounters, TellOfACrashOnce) {
  EventCounters news;
  EXPECT_TRUE(news.suspect(n70));
  EXPECT_FALSE(news.suspect(n70));
  EXPECT_TRUE(news.suspects(n70));
  EXPECT_TRUE(news.suspects().contains(n70));
  EXPECT_EQ(news.suspects().size(), 1U);
}

TEST(EventCounters, OldNewsDoesNotUndoNew) {
  EventCounters news;
  EXPECT_TRUE(news.learn(n3, 1));
  EXPECT_FALSE(news.learn(n3, 0)) << "somebody who has not heard";
  EXPECT_TRUE(news.suspects(n3));
  EXPECT_FALSE(news.learn(n3, 2)) << "it is back";
  EXPECT_FALSE(news.suspects(n3));
  EXPECT_TRUE(news.suspects().empty());
  EXPECT_FALSE(news.learn(n3, 1)) << "of the crash before that";
  EXPECT_FALSE(news.suspects(n3));
  EXPECT_TRUE(news.learn(n3, 5)) << "two crashes at once are one piece of news";
  EXPECT_TRUE(news.suspects(n3));
}

TEST(EventCounters, AreEqualIfTheyKnowTheSame) {
  EventCounters one, other;
  one.suspect(n1);
  one.suspect(n3);
  other.suspect(n3);
  EXPECT_FALSE(one == other);
  other.suspect(n1);
  EXPECT_TRUE(one == other);
}

}  // namespace
}  // namespace turno::protocols

#include "cluster/line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"

namespace turno::cluster {
namespace {

TEST(Line, ServesWhoCameFirst) {
  Line line;
  for (UserId user = 1; user <= 3; ++user) line.push(user);
  EXPECT_EQ(line.pop(), 1U);
  EXPECT_EQ(line.pop(), 2U);
  line.push(4);
  EXPECT_EQ(line.pop(), 3U);
  EXPECT_EQ(line.pop(), 4U);
  EXPECT_TRUE(line.empty());
}

TEST(Line, IsEqualWhateverItWasBefore) {
  Line once, again;
  once.push(2);
  once.push(3);
  again.push(1);
  again.push(2);
  again.push(3);
  EXPECT_NE(once, again);
  EXPECT_TRUE(again.erase(1, Line::nowhere));
  EXPECT_EQ(once, again);
  EXPECT_FALSE(again.erase(1, 0));
}

// The dumb twin is a vector.
TEST(Line, DoesWhatAVectorDoes) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Line line;
    struct Standing {
      UserId user;
      Line::Spot spot;
    };
    std::vector<Standing> twin;
    UserId next = 1;
    for (int i = 0; i < 1000; ++i) {
      const auto what = random.below(3);
      if (what == 0) {
        twin.push_back({next, line.push(next)});
        ++next;
      } else if (what == 1 && !twin.empty()) {
        EXPECT_EQ(line.pop(), twin.front().user);
        twin.erase(twin.begin());
      } else if (!twin.empty()) {
        const auto at = twin.begin() + static_cast<std::ptrdiff_t>(random.below(twin.size()));
        const bool known = random.below(2) == 0;
        EXPECT_TRUE(line.erase(at->user, known ? at->spot : Line::nowhere));
        EXPECT_FALSE(line.erase(at->user, at->spot));
        twin.erase(at);
      }
      ASSERT_EQ(line.size(), twin.size());
      ASSERT_TRUE(std::equal(twin.begin(), twin.end(), line.begin(), line.end(),
                             [](const Standing& a, UserId b) { return a.user == b; }));
    }
  }
}

}  // namespace
}  // namespace turno::cluster

#include "protocols/mutex/token/raymond.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

template <class P>
typename P::Message ask() {
  return {.kind = P::Kind::request};
}
template <class P>
typename P::Message privilege(std::uint64_t count, bool asking = false) {
  return {.kind = P::Kind::privilege, .asking = asking, .fence = Fence::at(1, count)};
}

// What both forms of the algorithm do alike.
template <class P>
class RaymondTest : public ::testing::Test {
 protected:
  std::vector<P> line_ = make<P>(shaped(Topology::line, 3));
};
using Forms = ::testing::Types<Raymond, RaymondPiggyback>;
TYPED_TEST_SUITE(RaymondTest, Forms);

TYPED_TEST(RaymondTest, IdleHolderEntersForNothing) {
  auto& root = this->line_[0];
  EXPECT_EQ(request(root), granted<TypeParam>(1));
  EXPECT_EQ(release(root), nothing<TypeParam>());
  EXPECT_EQ(request(root), granted<TypeParam>(2));
}

TYPED_TEST(RaymondTest, RequestAndPrivilegeTravelAlongTheTree) {
  using P = TypeParam;
  auto& line = this->line_;
  EXPECT_EQ(request(line[2]), effects<P>({{n1, ask<P>()}}));
  EXPECT_EQ(receive(line[1], n2, ask<P>()), effects<P>({{n0, ask<P>()}}));
  EXPECT_EQ(receive(line[0], n1, ask<P>()), effects<P>({{n1, privilege<P>(0)}}));
  EXPECT_EQ(line[0].holder, n1) << "the arrow points where the token went";
  EXPECT_EQ(line[0].fence, Fence{}) << "and the fence went with it";
  EXPECT_EQ(receive(line[1], n0, privilege<P>(0)), effects<P>({{n2, privilege<P>(0)}}));
  EXPECT_EQ(line[1].holder, n2);
  EXPECT_FALSE(line[1].asked) << "nobody else waits here, so it asks for nothing back";
  EXPECT_EQ(receive(line[2], n1, privilege<P>(0)), granted<P>(1));
  EXPECT_FALSE(line[2].asked) << "what it asked for has come";
}

TYPED_TEST(RaymondTest, NodeAsksOnceForAllThatWaitInIt) {
  using P = TypeParam;
  auto& middle = this->line_[1];
  EXPECT_EQ(receive(middle, n2, ask<P>()), effects<P>({{n0, ask<P>()}}));
  EXPECT_EQ(request(middle), nothing<P>());
  EXPECT_EQ(middle.queue, (Queue<NodeId>{n2, n1}));
}

TYPED_TEST(RaymondTest, WhoIsInsideLetsOthersWait) {
  using P = TypeParam;
  auto& root = this->line_[0];
  request(root);
  EXPECT_EQ(receive(root, n1, ask<P>()), nothing<P>());
  EXPECT_EQ(release(root), effects<P>({{n1, privilege<P>(1)}}));
  EXPECT_FALSE(root.has_token());
}

TYPED_TEST(RaymondTest, ResumesWithArrowsTurnedToTheHolder) {
  using P = TypeParam;
  auto nodes = make<P>(shaped(Topology::binary_tree, 5), {n3});  // 0 over 1 and 2, 1 over 3 and 4
  EXPECT_EQ(nodes[0].holder, n1);
  EXPECT_EQ(nodes[1].holder, n3);
  EXPECT_EQ(nodes[2].holder, n0);
  EXPECT_EQ(nodes[3].holder, n3);
  EXPECT_EQ(nodes[4].holder, n1);
  request(nodes[1]);
  EXPECT_EQ(receive(nodes[3], n1, ask<P>()), nothing<P>());
  EXPECT_EQ(release(nodes[3]), effects<P>({{n1, privilege<P>(0)}}));
  EXPECT_EQ(receive(nodes[1], n3, privilege<P>(0)), granted<P>(1));
}

TEST(Raymond, WhoSendsThePrivilegeAwayAndStillWaitsAsksAtOnce) {
  auto middle = make<Raymond>(shaped(Topology::line, 3))[1];
  receive(middle, n2, ask<Raymond>());
  request(middle);
  EXPECT_EQ(receive(middle, n0, privilege<Raymond>(4)),
            effects<Raymond>({{n2, privilege<Raymond>(4)}, {n2, ask<Raymond>()}}));
  EXPECT_TRUE(middle.asked);
}

TEST(RaymondPiggyback, ThePrivilegeCarriesTheRequestThatWouldFollowIt) {
  using P = RaymondPiggyback;
  auto nodes = make<P>(shaped(Topology::line, 3));
  request(nodes[2]);
  receive(nodes[1], n2, ask<P>());
  request(nodes[1]);
  EXPECT_EQ(receive(nodes[1], n0, privilege<P>(4)), effects<P>({{n2, privilege<P>(4, true)}}));
  EXPECT_TRUE(nodes[1].asked);
  EXPECT_EQ(receive(nodes[2], n1, privilege<P>(4, true)), granted<P>(5));
  EXPECT_EQ(release(nodes[2]), effects<P>({{n1, privilege<P>(5)}})) << "as if it had been asked";
  EXPECT_EQ(receive(nodes[1], n2, privilege<P>(5)), granted<P>(6));
}

}  // namespace
}  // namespace turno::protocols

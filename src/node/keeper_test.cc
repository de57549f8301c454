// The keeper against a registry that does what the test says.
#include "node/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "net/testing.h"
#include "registry/registry_testing.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
using cluster::View;
using net::count_of;
using net::eventually;
using registry::Error;
using registry::Expected;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FakeRegistry final : public registry::Registry {
 public:
  FakeRegistry() {
    view_.epoch = 5;
    for (const auto* name : {"a", "b", "c"}) {
      view_.members.push_back(registry::member_named(name));
      ids_.push_back(view_.members.back().id);
    }
  }

  Expected<View> join(const cluster::Member&, const registry::Settings&) override { return view_; }
  Expected<void> leave() override { return {}; }
  Expected<View> current() override {
    const std::scoped_lock guard(mutex_);
    ++looks_;
    if (reading_fails_) return tl::unexpected(*reading_fails_);
    return view_;
  }
  Expected<View> reconsider(bool bump) override {
    const std::scoped_lock guard(mutex_);
    ++reconsidered_;
    if (writing_fails_) return tl::unexpected(*writing_fails_);
    const auto before = view_.members.size();
    std::erase_if(view_.members, [&](const auto& member) { return dead_.contains(member.id); });
    if (bump || view_.members.size() < before) ++view_.epoch;
    return view_;
  }
  bool is_dead(std::uint64_t id) override {
    const std::scoped_lock guard(mutex_);
    ++questions_;
    return dead_.contains(id);
  }

  [[nodiscard]] std::uint64_t id(std::size_t i) const { return ids_[i]; }
  void kill(std::size_t i) {
    const std::scoped_lock guard(mutex_);
    dead_.insert(ids_[i]);
  }
  void fail_reading(std::optional<Error> error) {
    const std::scoped_lock guard(mutex_);
    reading_fails_ = std::move(error);
  }
  void fail_writing(std::optional<Error> error) {
    const std::scoped_lock guard(mutex_);
    writing_fails_ = std::move(error);
  }
  void change(const std::function<void(View&)>& edit) {
    const std::scoped_lock guard(mutex_);
    edit(view_);
  }
  [[nodiscard]] int looks() const { return looks_; }
  [[nodiscard]] int reconsidered() const { return reconsidered_; }
  [[nodiscard]] int questions() const { return questions_; }

 private:
  std::mutex mutex_;
  View view_;
  std::set<std::uint64_t> dead_;
  std::optional<Error> reading_fails_, writing_fails_;
  std::atomic<int> looks_{0}, reconsidered_{0}, questions_{0};
  std::vector<std::uint64_t> ids_;
};

class KeeperTest : public testing::Test {
 protected:
  ~KeeperTest() override { keeper_.stop(); }

  [[nodiscard]] std::vector<std::string> views() {
    const std::scoped_lock guard(mutex_);
    return views_;
  }
  // Until the keeper has gone round so many times.
  [[nodiscard]] bool rounds(int count) {
    const auto before = registry_.looks();
    return eventually([&] {
      keeper_.look();
      return registry_.looks() > before + count;
    });
  }

  FakeRegistry registry_;
  std::mutex mutex_;
  std::vector<std::string> views_;
  std::atomic<int> losses_{0};
  std::string reason_;
  Keeper keeper_{registry_,
                 registry_.id(0),
                 5,
                 {.view =
                      [this](const View& view) {
                        const std::scoped_lock guard(mutex_);
                        views_.push_back(registry::summary(view));
                      },
                  .lost =
                      [this](const std::string& reason) {
                        const std::scoped_lock guard(mutex_);
                        reason_ = reason;
                        ++losses_;
                      }}};
};

const Error full{Error::Kind::unavailable, "registry x: database or disk is full"};

TEST_F(KeeperTest, SaysNothingWhileNothingHappens) {
  EXPECT_TRUE(rounds(5));
  EXPECT_TRUE(views().empty());
  EXPECT_EQ(registry_.reconsidered(), 0);
}

TEST_F(KeeperTest, SeesANewView) {
  registry_.change([](View& view) {
    view.epoch = 9;
    view.members.pop_back();
  });
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));  // without being told
  EXPECT_TRUE(rounds(3));
  EXPECT_THAT(views(), ElementsAre("a b @ 9"));
}

TEST_F(KeeperTest, ASuspectIsWatchedUntilItIsDead) {
  keeper_.suspect(registry_.id(2));
  EXPECT_TRUE(eventually([&] { return registry_.questions() > 6; }));
  EXPECT_EQ(registry_.reconsidered(), 0);  // a suspicion alone changes nothing
  registry_.kill(2);
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));
  EXPECT_THAT(views(), ElementsAre("a b @ 6"));
}

TEST_F(KeeperTest, TheDeadAreMissedAlsoWithoutASuspicion) {
  registry_.kill(1);
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));
  EXPECT_THAT(views(), ElementsAre("a c @ 6"));
}

TEST_F(KeeperTest, AsksForANewEpoch) {
  keeper_.bump();
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));
  EXPECT_TRUE(rounds(3));
  EXPECT_THAT(views(), ElementsAre("a b c @ 6"));
  EXPECT_EQ(registry_.reconsidered(), 1);
}

// Locks may stand still until it is there.
TEST_F(KeeperTest, AsksForANewEpochUntilThereIsOne) {
  const net::LoggedLines lines;
  registry_.fail_writing(full);
  keeper_.bump();
  EXPECT_TRUE(eventually([&] { return registry_.reconsidered() > 2; }));
  registry_.fail_writing({});
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));
  EXPECT_TRUE(rounds(3));
  EXPECT_THAT(views(), ElementsAre("a b c @ 6"));
}

TEST_F(KeeperTest, ComplainsOnceAndSaysWhenItIsOver) {
  net::LoggedLines lines;
  registry_.fail_reading(full);
  EXPECT_TRUE(rounds(10));
  registry_.fail_reading({});
  EXPECT_TRUE(rounds(3));
  registry_.fail_reading(full);
  EXPECT_TRUE(rounds(3));
  keeper_.stop();
  const auto text = lines.take();
  EXPECT_EQ(count_of(text, "database or disk is full; the members stay as they are"), 2U) << text;
  EXPECT_EQ(count_of(text, "the registry works again"), 1U) << text;
}

// A full disk can still be read: that is no reason to say that all is well.
TEST_F(KeeperTest, ComplainsOnceIfOnlyWritingFails) {
  net::LoggedLines lines;
  registry_.fail_writing(full);
  registry_.kill(2);
  keeper_.suspect(registry_.id(2));
  EXPECT_TRUE(eventually([&] { return registry_.reconsidered() > 5; }));
  EXPECT_EQ(keeper_.trouble(), full.message);
  registry_.fail_writing({});
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));
  EXPECT_TRUE(rounds(3));
  EXPECT_EQ(keeper_.trouble(), "");
  keeper_.stop();
  const auto text = lines.take();
  EXPECT_EQ(count_of(text, "database or disk is full"), 1U) << text;
  EXPECT_EQ(count_of(text, "the registry works again"), 1U) << text;
  EXPECT_THAT(views(), ElementsAre("a b @ 6"));
}

// What this node could not do, another one did.
TEST_F(KeeperTest, ANewViewEndsTheComplaintToo) {
  net::LoggedLines lines;
  registry_.fail_writing(full);
  registry_.kill(2);
  EXPECT_TRUE(eventually([&] { return registry_.reconsidered() > 2; }));
  registry_.change([](View& view) {
    view.epoch = 6;
    view.members.pop_back();
  });
  EXPECT_TRUE(eventually([&] { return !views().empty(); }));
  keeper_.bump();
  EXPECT_TRUE(rounds(3));
  keeper_.stop();
  const auto text = lines.take();
  EXPECT_EQ(count_of(text, "database or disk is full"), 2U) << text;
}

TEST_F(KeeperTest, TellsThatTheRegistryIsLost) {
  registry_.fail_reading(Error{Error::Kind::lost, "the directory is gone"});
  EXPECT_TRUE(eventually([&] { return losses_ > 0; }));
  keeper_.stop();
  EXPECT_EQ(reason_, "the directory is gone");
}

TEST_F(KeeperTest, TellsThatThisNodeIsNoLongerListed) {
  registry_.change([](View& view) {
    view.epoch = 6;
    view.members.erase(view.members.begin());
  });
  EXPECT_TRUE(eventually([&] { return losses_ > 0; }));
  keeper_.stop();
  EXPECT_THAT(reason_, HasSubstr("no longer lists this node"));
  EXPECT_TRUE(views().empty());
}

TEST_F(KeeperTest, TellsThatTheRegistryWentBack) {
  registry_.change([](View& view) { view.epoch = 3; });
  EXPECT_TRUE(eventually([&] { return losses_ > 0; }));
  keeper_.stop();
  EXPECT_EQ(reason_, "the registry went back from view 5 to view 3");
}

TEST_F(KeeperTest, StopsAtOnceAndMoreThanOnce) {
  keeper_.stop();
  keeper_.suspect(registry_.id(1));
  keeper_.look();
  keeper_.stop();
}

}  // namespace
}  // namespace turno::node

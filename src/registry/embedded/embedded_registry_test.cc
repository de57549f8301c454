// The embedded registry inside one process. Other processes, and what may go wrong, have files of
// their own.
#include "registry/embedded/embedded_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct EmbeddedRegistryTest : testing::Test {
  TemporaryDirectory directory;
  fs::path place = directory.path() / "cluster";

  [[nodiscard]] std::size_t lock_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(place / "members"), {}));
  }
};

TEST_F(EmbeddedRegistryTest, LookingMakesNothing) {
  EmbeddedRegistry registry(place);
  EXPECT_EQ(summary(registry.current()), "absent: registry " + (place / "registry.db").string() +
                                             ": there is no cluster in this directory");
  EXPECT_THAT(summary(registry.reconsider(true)), HasSubstr("absent: "));
  EXPECT_FALSE(registry.is_dead(1));
  EXPECT_TRUE(registry.leave());
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(EmbeddedRegistryTest, MembersJoinAndLeave) {
  EmbeddedRegistry a(place);
  EmbeddedRegistry b(place);
  auto first = member_named("a");
  first.client_address = "127.0.0.1:2";
  first.client_socket = "/run/a.sock";
  first.http_address = "127.0.0.1:3";
  EXPECT_EQ(summary(a.join(first, running("nxr"))), "a @ 1");
  EXPECT_EQ(summary(b.join(member_named("b"), {})), "a b @ 2");
  EXPECT_EQ(summary(a.current()), "a b @ 2");
  EXPECT_EQ(*a.current(), *b.current());
  first.pid = ::getpid();
  EXPECT_EQ(a.current()->members.front(), first);
  EXPECT_EQ(a.current()->algorithm, "nxr");
  EXPECT_EQ(a.current()->lock_delay_ms, 250);
  EXPECT_EQ(a.current()->idle_ms, 1000);
  EXPECT_TRUE(a.leave());
  EXPECT_EQ(summary(b.current()), "b @ 3");
  EXPECT_EQ(summary(a.current()), "b @ 3");
  EXPECT_EQ(lock_files(), 1U);
  EXPECT_TRUE(b.leave());
  EXPECT_TRUE(b.leave());
  EXPECT_EQ(summary(b.current()), "@ 4");
  EXPECT_EQ(lock_files(), 0U);
}

TEST_F(EmbeddedRegistryTest, IsPrivate) {
  const auto previous = ::umask(0);
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  ::umask(previous);
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(place / "members").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(place / "registry.db").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(EmbeddedRegistryTest, WhoVanishesIsDeadAndDropped) {
  EmbeddedRegistry a(place);
  const auto vanishing = member_named("b");
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  {
    EmbeddedRegistry b(place);
    ASSERT_TRUE(b.join(vanishing, {}));
    EXPECT_EQ(summary(a.reconsider(false)), "a b @ 2");
    EXPECT_FALSE(a.is_dead(vanishing.id));
  }
  EXPECT_TRUE(a.is_dead(vanishing.id));
  EXPECT_FALSE(a.is_dead(a.current()->members.front().id));
  EXPECT_FALSE(a.is_dead(12345));
  EXPECT_EQ(summary(a.current()), "a b @ 2");
  EXPECT_EQ(summary(a.reconsider(false)), "a @ 3 crashed");
  EXPECT_EQ(summary(a.reconsider(false)), "a @ 3 crashed");
  EXPECT_EQ(summary(a.reconsider(true)), "a @ 4");
  EXPECT_EQ(a.current()->last_crash, 3U);
  EXPECT_FALSE(a.is_dead(vanishing.id));  // no member any more
  EXPECT_EQ(lock_files(), 1U);
}

TEST_F(EmbeddedRegistryTest, TheMomentOfACrashIsKept) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  const auto before = Moment::now();
  {
    EmbeddedRegistry b(place);
    ASSERT_TRUE(b.join(member_named("b"), {}));
    EXPECT_FALSE(b.current()->crash_moment);
  }
  const auto view = a.reconsider(false);
  const auto after = Moment::now();
  ASSERT_TRUE(view && view->crash_moment);
  EXPECT_EQ(view->crash_moment->boot, before.boot);
  EXPECT_LE(before.ns, view->crash_moment->ns);
  EXPECT_LE(view->crash_moment->ns, after.ns);
  EmbeddedRegistry c(place);
  EXPECT_EQ(c.join(member_named("c"), {})->crash_moment, view->crash_moment);
  EXPECT_EQ(EmbeddedRegistry(place).current(), c.current());
}

TEST_F(EmbeddedRegistryTest, TheDeadAreRemembered) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  for (int i = 0; i < 20; ++i) {
    {
      EmbeddedRegistry b(place);
      ASSERT_TRUE(b.join(member_named("b" + std::to_string(i)), {}));
    }
    ASSERT_TRUE(a.reconsider(false));
  }
  {
    EmbeddedRegistry c(place);
    ASSERT_TRUE(c.join(member_named("c"), {}));
    ASSERT_TRUE(c.leave());
  }
  const auto view = EmbeddedRegistry(place).current();
  ASSERT_EQ(view->casualties.size(), cluster::most_casualties);
  EXPECT_EQ(view->casualties.front().name, "b4");
  const auto& last = view->casualties.back();
  EXPECT_EQ(last.name, "b19");
  EXPECT_EQ(last.pid, ::getpid());
  EXPECT_EQ(last.epoch, 41U);
  EXPECT_GT(last.at_ms, 1'500'000'000'000);
  EXPECT_EQ(view, a.current());
}

TEST_F(EmbeddedRegistryTest, WhoJoinsOrLeavesDropsTheDeadToo) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  {
    EmbeddedRegistry b(place);
    ASSERT_TRUE(b.join(member_named("b"), {}));
  }
  auto b = std::make_unique<EmbeddedRegistry>(place);
  EXPECT_EQ(summary(b->join(member_named("b"), {})), "a b @ 3 crashed");
  b.reset();
  EXPECT_TRUE(a.leave());
  EXPECT_EQ(summary(a.current()), "@ 4 crashed");
}

TEST_F(EmbeddedRegistryTest, WhenAllAreDeadTheSettingsAreFixedAnew) {
  std::uint64_t key = 0;
  {
    EmbeddedRegistry a(place);
    key = a.join(member_named("a"), running("nxr"))->key;
  }
  EmbeddedRegistry a(place);
  const auto view = a.join(member_named("a"), running("dir"));
  EXPECT_EQ(summary(view), "a @ 2 crashed");
  EXPECT_EQ(view->algorithm, "dir");
  EXPECT_NE(view->key, key);
}

TEST_F(EmbeddedRegistryTest, RefusalsChangeNothing) {
  EmbeddedRegistry a(place);
  EmbeddedRegistry b(place);
  EXPECT_THAT(summary(b.join(member_named("b"), {})), HasSubstr("names its algorithm"));
  EXPECT_THAT(summary(b.current()), HasSubstr("no node has joined here yet"));
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  EXPECT_EQ(summary(a.join(member_named("c"), {})), "refused: this node has already joined");
  EXPECT_THAT(summary(b.join(member_named("a"), {})),
              HasSubstr("(pid " + std::to_string(::getpid()) + ")"));
  EXPECT_THAT(summary(b.join(member_named("b"), running("dir"))),
              HasSubstr("runs 'nxr', not 'dir'"));
  EXPECT_THAT(summary(b.join(member_named(""), {})), HasSubstr("refused: '' is no name"));
  EXPECT_EQ(summary(a.current()), "a @ 1");
  EXPECT_EQ(lock_files(), 1U);
  EXPECT_EQ(summary(b.join(member_named("b"), {})), "a b @ 2");
}

TEST_F(EmbeddedRegistryTest, MayJoinAgainAfterLeaving) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  ASSERT_TRUE(a.leave());
  EXPECT_EQ(summary(a.join(member_named("a"), running("dir"))), "a @ 3");
}

TEST_F(EmbeddedRegistryTest, HasRoomForSoManyAndNoMore) {
  std::vector<std::unique_ptr<EmbeddedRegistry>> all;
  for (std::size_t i = 0; i < cluster::most_members; ++i) {
    all.push_back(std::make_unique<EmbeddedRegistry>(place));
    ASSERT_TRUE(all.back()->join(member_named(std::to_string(i)), running("nxr")));
  }
  EmbeddedRegistry more(place);
  EXPECT_EQ(summary(more.join(member_named("more"), {})),
            "refused: a cluster has at most 128 members");
  EXPECT_EQ(more.current()->epoch, cluster::most_members);
  EXPECT_EQ(lock_files(), cluster::most_members);
  all.pop_back();  // dies
  EXPECT_TRUE(more.join(member_named("more"), {}));
  EXPECT_EQ(more.current()->size(), cluster::most_members);
}

TEST_F(EmbeddedRegistryTest, LeftoverFilesAreSwept) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  for (const auto* name : {"17.lock", "18.lock.new", "notes.txt", "x.lock", "0.lock"}) {
    std::ofstream(place / "members" / name) << "left";
  }
  LockFile joining;
  ASSERT_TRUE(joining.create(place / "members" / "19.lock"));
  ASSERT_TRUE(a.reconsider(true));
  EXPECT_FALSE(fs::exists(place / "members" / "17.lock"));
  EXPECT_FALSE(fs::exists(place / "members" / "18.lock.new"));
  EXPECT_TRUE(fs::exists(place / "members" / "19.lock"));  // alive
  EXPECT_TRUE(fs::exists(place / "members" / "notes.txt"));
  EXPECT_TRUE(fs::exists(place / "members" / "x.lock"));
  EXPECT_EQ(lock_files(), 5U);
}

TEST_F(EmbeddedRegistryTest, ARemovedLockFileIsPutBack) {
  EmbeddedRegistry a(place);
  EmbeddedRegistry b(place);
  const auto id = a.join(member_named("a"), running("nxr"))->members.front().id;
  ASSERT_TRUE(b.join(member_named("b"), {}));
  fs::remove_all(place / "members");
  EXPECT_FALSE(b.is_dead(id));
  EXPECT_EQ(summary(b.reconsider(false)), "a b @ 2");
  EXPECT_EQ(summary(a.current()), "a b @ 2");
  EXPECT_EQ(lock_files(), 2U);
  EXPECT_EQ(summary(b.reconsider(false)), "a b @ 2");
  ASSERT_TRUE(a.leave());
  EXPECT_EQ(lock_files(), 1U);
}

TEST_F(EmbeddedRegistryTest, RelativeAndUntidyPathsMeanTheSamePlace) {
  EmbeddedRegistry a(fs::relative(place));
  EmbeddedRegistry b(place / "members" / ".." / "");
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  EXPECT_EQ(summary(b.current()), "a @ 1");
}

// The fast way of current() (the file did not change) and the slow one agree.
TEST_F(EmbeddedRegistryTest, CurrentNeverMissesAChange) {
  EmbeddedRegistry a(place);
  EmbeddedRegistry watcher(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  for (int i = 0; i < 60; ++i) {
    const auto view = a.reconsider(true);
    EXPECT_EQ(watcher.current(), view) << i;
    if (i % 20 == 19) ::usleep(120'000);  // now the file has settled
    EXPECT_EQ(watcher.current(), view) << i;
    EXPECT_EQ(watcher.current(), view) << i;
  }
}

TEST_F(EmbeddedRegistryTest, ManyThreadsMayUseOneAndMany) {
  EmbeddedRegistry shared(place);
  ASSERT_TRUE(shared.join(member_named("shared"), running("nxr")));
  constexpr int count = 4;
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        EmbeddedRegistry own(place);
        auto view = own.join(member_named("node-" + std::to_string(i)), {});
        if (!view) ++failures;
        std::uint32_t epoch = 0;
        for (int round = 0; round < 10; ++round) {
          const auto seen = round % 5 == 0 ? shared.reconsider(true) : shared.current();
          if (!seen || seen->epoch < epoch) ++failures;
          if (seen) epoch = seen->epoch;
          if (shared.is_dead(view->members.back().id)) ++failures;
        }
        if (!own.leave()) ++failures;
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(summary(shared.current()), "shared @ 17");
}

}  // namespace
}  // namespace turno::registry

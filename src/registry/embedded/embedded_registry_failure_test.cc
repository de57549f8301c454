// What may go wrong under the embedded registry: it says what and where, and loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "core/fence.h"
#include "core/random.h"
#include "registry/embedded/embedded_registry.h"
#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct FailureTest : testing::Test {
  TemporaryDirectory directory;
  fs::path place = directory.path() / "cluster";
  fs::path file = place / "registry.db";

  void change_database(const std::string& sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(connection);
  }
  [[nodiscard]] std::size_t lock_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(place / "members"), {}));
  }
  void make_cluster() const {
    EmbeddedRegistry a(place);
    ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  }
};

// Mounts that end with this process. False where that is not allowed.
bool may_mount() {
  static const bool allowed = ::unshare(CLONE_NEWNS) == 0 &&
                              ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return allowed;
}

struct Mount {
  Mount(const char* source, fs::path at, const char* type, unsigned long flags, const char* data)
      : target(std::move(at)) {
    fs::create_directories(target);
    mounted = ::mount(source, target.c_str(), type, flags, data) == 0;
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  ~Mount() {
    if (mounted) ::umount2(target.c_str(), MNT_DETACH);
  }
  fs::path target;
  bool mounted = false;
};

void fill(const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  const std::string block(512, 'x');
  while (out.write(block.data(), 512).flush()) {
  }
}

TEST_F(FailureTest, AFullDisk) {
  if (!may_mount()) GTEST_SKIP() << "mounting a small disk needs root";
  const Mount disk("tmpfs", place, "tmpfs", 0, "mode=700,size=128k");
  ASSERT_TRUE(disk.mounted);
  EmbeddedRegistry a(place);
  EmbeddedRegistry b(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  fill(place / "filler");
  const auto full = "unavailable: registry " + file.string() + ": database or disk is full";
  const auto newcomer = member_named("b");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(summary(a.reconsider(true)), full);
    EXPECT_EQ(summary(b.join(newcomer, {})), full);
    EXPECT_EQ(summary(a.current()), "a @ 1");
    EXPECT_EQ(summary(a.reconsider(false)), "a @ 1");
    const auto left = a.leave();
    ASSERT_FALSE(left);
    EXPECT_EQ("unavailable: " + left.error().message, full);
    EXPECT_EQ(summary(EmbeddedRegistry(place).current()), "a @ 1");
  }
  fs::remove(place / "filler");
  EXPECT_EQ(summary(a.reconsider(true)), "a @ 2");
  EXPECT_EQ(summary(b.join(newcomer, {})), "a b @ 3");
  EXPECT_TRUE(a.leave());
  EXPECT_EQ(summary(b.current()), "b @ 4");
}

TEST_F(FailureTest, AFullDiskFromTheBeginning) {
  if (!may_mount()) GTEST_SKIP() << "mounting a small disk needs root";
  const Mount disk("tmpfs", place, "tmpfs", 0, "mode=700,size=64k");
  ASSERT_TRUE(disk.mounted);
  fill(place / "filler");
  EmbeddedRegistry a(place);
  EXPECT_THAT(summary(a.join(member_named("a"), running("nxr"))),
              AllOf(StartsWith("unavailable: registry "), HasSubstr("full")));
  fs::remove(place / "filler");
  EXPECT_EQ(summary(a.join(member_named("a"), running("nxr"))), "a @ 1");
}

TEST_F(FailureTest, NoRoomForALockFile) {
  if (!may_mount()) GTEST_SKIP() << "mounting a small disk needs root";
  // The directories, the database, its journal and one lock file.
  const Mount disk("tmpfs", place, "tmpfs", 0, "mode=700,size=1m,nr_inodes=5");
  ASSERT_TRUE(disk.mounted);
  EmbeddedRegistry a(place);
  EmbeddedRegistry b(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  EXPECT_THAT(summary(b.join(member_named("b"), {})),
              AllOf(StartsWith("unavailable: "), HasSubstr("its journal cannot be made")));
  EXPECT_EQ(summary(a.reconsider(false)), "a @ 1");  // sweeps what that left
  std::ofstream(place / "filler") << "";
  EXPECT_THAT(summary(b.join(member_named("b"), {})),
              AllOf(StartsWith("unavailable: lock file "), HasSubstr("No space left on device")));
  EXPECT_THAT(summary(a.reconsider(true)), HasSubstr("its journal cannot be made"));
  EXPECT_EQ(summary(a.current()), "a @ 1");
  fs::remove(place / "filler");
  EXPECT_EQ(summary(a.reconsider(true)), "a @ 2");
}

TEST_F(FailureTest, AReadOnlyDirectory) {
  if (!may_mount()) GTEST_SKIP() << "mounting read-only needs root";
  make_cluster();
  const auto elsewhere = directory.path() / "read-only";
  const Mount bound(place.c_str(), elsewhere, nullptr, MS_BIND, nullptr);
  ASSERT_TRUE(bound.mounted);
  ASSERT_EQ(::mount(nullptr, elsewhere.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr),
            0);
  EmbeddedRegistry b(elsewhere);
  EXPECT_THAT(summary(b.join(member_named("b"), {})),
              AllOf(StartsWith("unavailable: "), HasSubstr("Read-only file system")));
  EXPECT_EQ(summary(b.reconsider(true)), "unavailable: registry " +
                                             (elsewhere / "registry.db").string() +
                                             ": attempt to write a readonly database");
  EXPECT_EQ(summary(b.current()), "a @ 1");
  EmbeddedRegistry none(elsewhere / "new");
  EXPECT_EQ(summary(none.join(member_named("b"), running("nxr"))),
            "unavailable: " + (elsewhere / "new").string() + ": Read-only file system");
}

TEST_F(FailureTest, NotADatabase) {
  fs::create_directories(place);
  std::ofstream(file) << std::string(5000, 'x');
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  EmbeddedRegistry a(place);
  const auto error = "damaged: registry " + file.string() + ": file is not a database";
  EXPECT_THAT(summary(a.current()), StartsWith(error));
  EXPECT_THAT(summary(a.reconsider(true)), StartsWith(error));
  EXPECT_THAT(summary(a.join(member_named("a"), running("nxr"))), StartsWith(error));
  fs::remove_all(place);
  EXPECT_EQ(summary(a.join(member_named("a"), running("nxr"))), "a @ 1");
}

TEST_F(FailureTest, AnotherSchemaVersion) {
  make_cluster();
  change_database("PRAGMA user_version = 7");
  EmbeddedRegistry a(place);
  EXPECT_THAT(summary(a.current()),
              AllOf(StartsWith("damaged: "), HasSubstr("schema version 7, this program knows 4")));
  EXPECT_THAT(summary(a.join(member_named("b"), {})), HasSubstr("schema version 7"));
}

TEST_F(FailureTest, TheDatabaseOfAnotherProgram) {
  fs::create_directories(place);
  change_database("CREATE TABLE member (whatever); INSERT INTO member VALUES (1)");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  EmbeddedRegistry a(place);
  EXPECT_THAT(summary(a.join(member_named("a"), running("nxr"))), HasSubstr("schema version 0"));
}

TEST_F(FailureTest, ValuesThatNoNodeWrote) {
  for (const auto* sql :
       {"UPDATE cluster SET epoch = -1", "UPDATE cluster SET epoch = 4294967296",
        "UPDATE cluster SET fences_from = -1", "UPDATE cluster SET last_crash = 2",
        "DELETE FROM cluster", "UPDATE member SET id = 0", "UPDATE member SET id = -5",
        "UPDATE member SET name = ''", "UPDATE member SET pid = 0", "UPDATE member SET pid = -1",
        "UPDATE cluster SET idle_ms = -1"}) {
    fs::remove_all(place);
    make_cluster();
    change_database(sql);
    EmbeddedRegistry a(place);
    EXPECT_THAT(summary(a.current()), HasSubstr("values that no node wrote")) << sql;
    EXPECT_THAT(summary(a.reconsider(true)), StartsWith("damaged: ")) << sql;
  }
  change_database("DROP TABLE member");
  EXPECT_THAT(summary(EmbeddedRegistry(place).current()), HasSubstr("no such table: member"));
}

// Whatever bytes are in the file, the answer is a view or an error.
TEST_F(FailureTest, FlippedBytes) {
  make_cluster();
  std::ifstream in(file, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  ASSERT_GT(good.size(), 4096U);
  Random random(7);
  int errors = 0;
  for (int round = 0; round < 300; ++round) {
    auto bad = good;
    for (auto flips = 1 + random.below(8); flips > 0; --flips) {
      // Mostly where the structure is: the first bytes of the pages.
      const auto page = random.below(good.size() / 4096) * 4096;
      bad[page + random.below(random.below(2) == 0 ? 128 : 4096)] =
          static_cast<char>(random.next());
    }
    if (random.below(4) == 0) bad.resize(random.below(bad.size()));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bad;
    EmbeddedRegistry a(place);
    const auto view = a.current();
    if (view) continue;
    ++errors;
    EXPECT_FALSE(view.error().message.empty());
  }
  EXPECT_GT(errors, 50);
}

// A registry of a program that did not write down when somebody crashed.
TEST_F(FailureTest, NoMomentOfACrash) {
  make_cluster();
  change_database("DROP TABLE crash");
  EmbeddedRegistry a(place);
  EXPECT_FALSE(EmbeddedRegistry(place).current()->crash_moment);
  ASSERT_EQ(summary(a.join(member_named("a"), running("nxr"))), "a @ 2 crashed");
  EXPECT_TRUE(EmbeddedRegistry(place).current()->crash_moment);
  change_database("UPDATE crash SET epoch = 1");  // of an earlier one
  EXPECT_FALSE(EmbeddedRegistry(place).current()->crash_moment);
}

TEST_F(FailureTest, TheLastEpoch) {
  make_cluster();
  change_database("UPDATE cluster SET epoch = 4294967294");
  EmbeddedRegistry a(place);
  ASSERT_EQ(summary(a.join(member_named("a"), running("nxr"))), "a @ 4294967295 crashed");
  EXPECT_THAT(summary(a.reconsider(true)),
              AllOf(StartsWith("refused: "), HasSubstr("view 4294967295 was the last one")));
  EXPECT_EQ(summary(a.reconsider(false)), "a @ 4294967295 crashed");
}

TEST_F(FailureTest, TheLastFences) {
  make_cluster();
  EmbeddedRegistry a(place);
  ASSERT_EQ(summary(a.join(member_named("a"), running("nxr"))), "a @ 2 crashed");
  change_database("UPDATE cluster SET fences_from = " + std::to_string(Fence::last_epoch - 2));
  EXPECT_THAT(summary(a.reconsider(true)),
              AllOf(StartsWith("refused: "), HasSubstr("fences must not go back")));
  EXPECT_EQ(summary(a.reconsider(false)), "a @ 2 crashed");
}

TEST_F(FailureTest, TheDirectoryIsRemoved) {
  EmbeddedRegistry a(place);
  EmbeddedRegistry watcher(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  ASSERT_TRUE(watcher.current());
  fs::remove_all(place);
  EXPECT_THAT(summary(a.current()), AllOf(StartsWith("lost: "), HasSubstr(file.string())));
  EXPECT_THAT(summary(a.reconsider(true)), StartsWith("lost: "));
  EXPECT_THAT(summary(watcher.current()), StartsWith("absent: "));
  EXPECT_FALSE(fs::exists(place));
  // A new cluster at the same place is not the one that this node joined.
  EmbeddedRegistry b(place);
  ASSERT_TRUE(b.join(member_named("b"), running("dir")));
  EXPECT_THAT(summary(a.current()), StartsWith("lost: "));
  EXPECT_EQ(summary(watcher.current()), "b @ 1");
  EXPECT_TRUE(a.leave());
  EXPECT_EQ(summary(a.current()), "b @ 1");
  EXPECT_EQ(summary(a.join(member_named("a"), {})), "b a @ 2");
}

// ---- a registry that goes back in place

TEST_F(FailureTest, ARegistryWithAnOlderViewIsNotTheOneThatWasJoined) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  ASSERT_EQ(summary(a.reconsider(true)), "a @ 2");
  change_database("UPDATE cluster SET epoch = 1");
  const auto lost = AllOf(StartsWith("lost: registry " + file.string()),
                          HasSubstr("it went back from view 2 to view 1"));
  EXPECT_THAT(summary(a.current()), lost);
  EXPECT_THAT(summary(a.reconsider(true)), lost);  // and nothing is written into it
  EXPECT_EQ(summary(EmbeddedRegistry(place).current()), "a @ 1");
  EXPECT_TRUE(a.leave());
  EXPECT_EQ(lock_files(), 0U);
}

TEST_F(FailureTest, ARegistryOfAnotherClusterIsNotTheOneThatWasJoined) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  change_database("UPDATE cluster SET key = 4711, epoch = 9");
  const auto lost = AllOf(StartsWith("lost: "), HasSubstr("it belongs to another cluster now"));
  EXPECT_THAT(summary(a.current()), lost);
  EXPECT_THAT(summary(a.reconsider(true)), lost);
  EXPECT_TRUE(a.leave());
}

// Who lives holds its lock file, and so a newcomer sees that there is another cluster.
TEST_F(FailureTest, NoSecondClusterIsFoundedBesideTheLiving) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  std::ofstream(file, std::ios::trunc).close();
  EmbeddedRegistry b(place);
  EXPECT_THAT(summary(b.join(member_named("b"), running("nxr"))),
              AllOf(StartsWith("refused: "), HasSubstr(place.string()),
                    HasSubstr("a node that is not in it still runs")));
  EXPECT_THAT(summary(a.current()), AllOf(StartsWith("lost: "), HasSubstr("it was emptied")));
  EXPECT_THAT(summary(a.reconsider(false)), StartsWith("lost: "));
  EXPECT_TRUE(a.leave());
  EXPECT_EQ(summary(b.join(member_named("b"), running("nxr"))), "b @ 1");
}

// A member that leaves lets go of its file a moment after it is gone from the view.
TEST_F(FailureTest, WhoJustLeftDoesNotKeepOthersOut) {
  make_cluster();
  LockFile leaving;
  ASSERT_TRUE(leaving.create(place / "members" / "19.lock"));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    leaving.release();
  });
  EmbeddedRegistry b(place);
  EXPECT_EQ(summary(b.join(member_named("b"), running("nxr"))), "b @ 2 crashed");
  other.join();
}

TEST_F(FailureTest, PathsThatCannotBe) {
  std::ofstream(directory.path() / "file") << "";
  EmbeddedRegistry under_file(directory.path() / "file" / "cluster");
  EXPECT_THAT(summary(under_file.join(member_named("a"), running("nxr"))),
              HasSubstr("Not a directory"));
  EXPECT_THAT(summary(under_file.current()), StartsWith("absent: "));
  EmbeddedRegistry long_name(directory.path() / std::string(300, 'n'));
  EXPECT_THAT(summary(long_name.join(member_named("a"), running("nxr"))),
              HasSubstr("File name too long"));
  auto deep = directory.path();
  for (int i = 0; i < 10; ++i) deep /= std::string(60, 'd');
  EmbeddedRegistry long_path(deep);
  EXPECT_THAT(summary(long_path.join(member_named("a"), running("nxr"))),
              AllOf(StartsWith("refused: "), HasSubstr("at most 480 work")));
  EXPECT_FALSE(fs::exists(directory.path() / std::string(60, 'd')));
}

TEST_F(FailureTest, WhileAnotherWritesTheLastViewIsCurrent) {
  EmbeddedRegistry a(place);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(summary(a.current()), "a @ 1");
  ASSERT_EQ(sqlite3_exec(writer, "UPDATE cluster SET epoch = 9; COMMIT", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(writer);
  EXPECT_EQ(summary(a.current()), "a @ 9");
}

}  // namespace
}  // namespace turno::registry

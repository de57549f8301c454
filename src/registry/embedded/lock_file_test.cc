#include "registry/embedded/lock_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <thread>

#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

namespace fs = std::filesystem;

struct LockFileTest : testing::Test {
  TemporaryDirectory directory;
  fs::path path = directory.path() / "7.lock";
};

TEST_F(LockFileTest, IsHeldUntilItIsReleased) {
  EXPECT_EQ(look_at_lock(path), LockState::missing);
  LockFile lock;
  ASSERT_TRUE(lock.create(path));
  EXPECT_EQ(look_at_lock(path), LockState::held);
  EXPECT_TRUE(lock.in_place());
  lock.release();
  EXPECT_EQ(look_at_lock(path), LockState::free);
  EXPECT_FALSE(lock.in_place());
  lock.release();
}

TEST_F(LockFileTest, IsReadableByItsOwnerOnlyAndLeavesNoSecondName) {
  LockFile lock;
  ASSERT_TRUE(lock.create(path));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST_F(LockFileTest, LookingDoesNotTakeTheLock) {
  LockFile lock;
  ASSERT_TRUE(lock.create(path));
  lock.release();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look_at_lock(path), LockState::free);
  LockFile another;
  EXPECT_TRUE(another.create(path));
}

TEST_F(LockFileTest, KnowsWhenItWasRemovedOrReplaced) {
  LockFile lock;
  ASSERT_TRUE(lock.create(path));
  fs::remove(path);
  EXPECT_FALSE(lock.in_place());
  EXPECT_EQ(look_at_lock(path), LockState::missing);
  LockFile replacement;
  ASSERT_TRUE(replacement.create(path));
  EXPECT_FALSE(lock.in_place());
  lock.release();
  EXPECT_EQ(look_at_lock(path), LockState::held);
}

TEST_F(LockFileTest, SaysWhyItCannotBeMade) {
  LockFile lock;
  const auto made = lock.create(directory.path() / "no" / "7.lock");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "lock file " + (directory.path() / "no/7.lock").string() +
                                      ": No such file or directory");
}

TEST_F(LockFileTest, WhatCannotBeLookedAtIsUnknown) {
  fs::create_directory(path);
  EXPECT_EQ(look_at_lock(path), LockState::unknown);
  const auto link = directory.path() / "8.lock";
  fs::create_symlink("elsewhere", link);
  EXPECT_EQ(look_at_lock(link), LockState::unknown);
}

TEST_F(LockFileTest, AForkedChildDoesNotKeepIt) {
  LockFile lock;
  LockFile second;
  LockFile third;
  ASSERT_TRUE(lock.create(path));
  ASSERT_TRUE(second.create(directory.path() / "8.lock"));
  ASSERT_TRUE(third.create(directory.path() / "9.lock"));
  second.release();  // from the middle of the list
  const auto child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_EQ(look_at_lock(path), LockState::held);
  lock.release();
  third.release();
  // The child may not have run yet.
  for (int i = 0; i < 1000 && look_at_lock(path) != LockState::free; ++i) ::usleep(1000);
  EXPECT_EQ(look_at_lock(path), LockState::free);
  EXPECT_EQ(look_at_lock(directory.path() / "9.lock"), LockState::free);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(LockFileTest, AForkedChildMayHoldItsOwn) {
  LockFile lock;
  ASSERT_TRUE(lock.create(path));
  const auto child = ::fork();
  if (child == 0) {
    lock.release();  // nothing: it is closed already
    LockFile own;
    const bool made = own.create(directory.path() / "8.lock").has_value();
    ::_exit(made && look_at_lock(path) == LockState::held ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LockFileTest, ThreadsMayForkWhileOthersLock) {
  std::jthread locker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      LockFile lock;
      ASSERT_TRUE(lock.create(path));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace
}  // namespace turno::registry

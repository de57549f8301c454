// What others could prepare for a node is refused.
#include "registry/embedded/safe_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "registry/embedded/embedded_registry.h"
#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr uid_t nobody_else = 65534;

std::string refused(const Expected<void>& result) {
  if (result) return "fine";
  EXPECT_EQ(result.error().kind, Error::Kind::refused) << result.error().message;
  return result.error().message;
}
mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

struct SafeDirectoryTest : testing::Test {
  Expected<View> join() { return EmbeddedRegistry(place).join(member_named("a"), running("nxr")); }

  TemporaryDirectory folder;
  fs::path place = folder.path() / "cluster";
};

TEST_F(SafeDirectoryTest, IsMadeForItsUserAlone) {
  EXPECT_EQ(refused(make_directory(place / "a" / "b")), "fine");
  EXPECT_EQ(mode_of(place / "a" / "b"), 0700U);
  EXPECT_EQ(refused(make_directory(place / "a" / "b" / "")), "fine");
  EXPECT_EQ(refused(check_directory(place / "a" / "b")), "fine");
  EXPECT_EQ(check_directory(place / "none").error().kind, Error::Kind::absent);
}

TEST_F(SafeDirectoryTest, MayBeReadButNotWrittenByOthers) {
  ASSERT_TRUE(make_directory(place));
  ::chmod(place.c_str(), 0755);
  EXPECT_EQ(refused(make_directory(place)), "fine");
  for (const mode_t mode : {0775, 0757, 01777}) {
    ::chmod(place.c_str(), mode);
    EXPECT_THAT(refused(make_directory(place)),
                AllOf(HasSubstr(place.string()), HasSubstr("can be written by others"),
                      HasSubstr(mode == 01777 ? "in place: use another directory" : "chmod go-w")));
    EXPECT_THAT(summary(join()), HasSubstr("refused: "));
  }
  EXPECT_FALSE(fs::exists(place / "registry.db"));
}

TEST_F(SafeDirectoryTest, IsNoSymbolicLink) {
  fs::create_directory(folder.path() / "real");
  fs::create_directory_symlink(folder.path() / "real", place);
  EXPECT_THAT(refused(make_directory(place)), HasSubstr("is a symbolic link"));
  EXPECT_THAT(refused(check_directory(place / "")), HasSubstr("is a symbolic link"));
  EXPECT_THAT(summary(join()), HasSubstr("is a symbolic link"));
  EXPECT_TRUE(fs::is_empty(folder.path() / "real"));
}

TEST_F(SafeDirectoryTest, BelongsToItsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_TRUE(join());
  ASSERT_EQ(::chown(place.c_str(), nobody_else, 0), 0);
  EXPECT_THAT(refused(check_directory(place)),
              AllOf(HasSubstr("nobody:root, mode 0700"), HasSubstr("does not belong to root")));
  EXPECT_THAT(summary(join()), HasSubstr("does not belong to root"));
  EXPECT_THAT(summary(EmbeddedRegistry(place).current()), HasSubstr("does not belong to root"))
      << "not even to look: what is read could be anything";
}

TEST_F(SafeDirectoryTest, TheDirectoryOfLockFilesIsCheckedToo) {
  fs::create_directories(place);
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_directory_symlink(folder.path() / "elsewhere", place / "members");
  EXPECT_THAT(summary(join()), AllOf(HasSubstr("members"), HasSubstr("is a symbolic link")));
}

TEST_F(SafeDirectoryTest, ARegistryThatIsALinkIsNotOpened) {
  fs::create_directories(place);
  const auto target = folder.path() / "target";
  std::ofstream(target) << "";
  fs::create_symlink(target, place / "registry.db");
  EXPECT_THAT(summary(join()), HasSubstr("a symbolic link, "));
  EXPECT_EQ(fs::file_size(target), 0U);
}

TEST_F(SafeDirectoryTest, ARegistryThatOthersCanReadIsRefused) {
  ASSERT_TRUE(join());
  ::chmod((place / "registry.db").c_str(), 0644);
  EXPECT_THAT(summary(join()), HasSubstr("must be a plain file"));
}

TEST_F(SafeDirectoryTest, OfAGroupHasExactlyItsMode) {
  const DirectoryAccess access{.mode = 02750, .group = ::getegid()};
  ASSERT_EQ(refused(make_directory(place, access)), "fine");
  EXPECT_EQ(mode_of(place), 02750U);
  ::chmod(place.c_str(), 0700);
  EXPECT_THAT(refused(check_directory(place, access)),
              AllOf(HasSubstr("mode 0700"), HasSubstr("chmod 2750")));
  EXPECT_EQ(refused(make_directory(place, access)), "fine") << "its owner may open it";
  EXPECT_EQ(mode_of(place), 02750U);
  ::chmod(place.c_str(), 02770);
  EXPECT_THAT(refused(make_directory(place, access)), HasSubstr("can be written by others"));
}

}  // namespace
}  // namespace turno::registry

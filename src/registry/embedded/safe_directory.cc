#include "registry/embedded/safe_directory.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace turno::registry {

namespace fs = std::filesystem;
using Kind = Error::Kind;

namespace {

constexpr mode_t permissions = 07777;

tl::unexpected<Error> refusal(std::string message) {
  return tl::unexpected(Error{Kind::refused, std::move(message)});
}

tl::unexpected<Error> system_error(const fs::path& path, int number) {
  const auto missing = number == ENOENT || number == ENOTDIR;
  auto message = fmt::format("{}: {}", path.string(), std::generic_category().message(number));
  if (number == EACCES)
    message += fmt::format(" for {}: its owner can change that, or use another directory (--dir)",
                           name_of_user(::geteuid()));
  return tl::unexpected(Error{missing ? Kind::absent : Kind::unavailable, std::move(message)});
}

std::string name_of_group(gid_t group) {
  const auto* entry = ::getgrgid(group);
  return entry == nullptr ? std::to_string(group) : entry->gr_name;
}

// "alice:users, mode 0755"
std::string described(const struct stat& status) {
  return fmt::format("{}:{}, mode {:04o}", name_of_user(status.st_uid),
                     name_of_group(status.st_gid), status.st_mode & permissions);
}

// Another machine may share it, whose processes and addresses are others.
bool is_on_a_network(const fs::path& directory) {
  constexpr std::array<unsigned, 6> remote = {NFS_SUPER_MAGIC,     SMB_SUPER_MAGIC,
                                              0xff534d42 /*CIFS*/, 0xfe534d42 /*SMB2*/,
                                              AFS_SUPER_MAGIC,     0x00c36400 /*Ceph*/};
  struct statfs system {};
  return ::statfs(directory.c_str(), &system) == 0 &&
         std::ranges::find(remote, static_cast<unsigned>(system.f_type)) != remote.end();
}

// A path with a slash at its end would name what a link leads to.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

Expected<void> judge(const fs::path& path, const struct stat& status,
                     const DirectoryAccess& access) {
  const auto mode = status.st_mode & permissions;
  if (access.group && (status.st_gid != *access.group || mode != access.mode))
    return refusal(
        fmt::format("{0} ({1}) must be for the group {2} with mode {3:04o}: chgrp {2} "
                    "{0} && chmod {3:o} {0}",
                    path.string(), described(status), name_of_group(*access.group), access.mode));
  if (!access.group && (mode & (S_IWGRP | S_IWOTH)) != 0)
    return refusal(
        fmt::format("{0} ({1}) can be written by others, who could read the cluster's "
                    "key and put files of theirs in place: {2}use another directory (--dir, "
                    "TURNO_DIR)",
                    path.string(), described(status),
                    // Not of a directory that is everybody's, as /tmp.
                    (mode & S_ISVTX) != 0
                        ? ""
                        : "chmod go-w " + path.string() + ", if nobody has been there yet; else "));
  if (is_on_a_network(path))
    return refusal(path.string() +
                   " is on a network file system, which other machines may share: use a local "
                   "directory (--dir, TURNO_DIR)");
  return {};
}

}  // namespace

std::string name_of_user(uid_t user) {
  const auto* entry = ::getpwuid(user);
  return entry == nullptr ? std::to_string(user) : entry->pw_name;
}

Expected<void> check_directory(const fs::path& directory, const DirectoryAccess& access) {
  const auto path = without_slash(directory);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return system_error(path, errno);
  if (S_ISLNK(status.st_mode))
    return refusal(
        fmt::format("{} is a symbolic link ({}), which could lead anywhere: name the "
                    "directory itself",
                    path.string(), described(status)));
  if (!S_ISDIR(status.st_mode)) return refusal(path.string() + " is not a directory");
  if (status.st_uid != ::geteuid())
    return refusal(fmt::format(
        "{} ({}) does not belong to {}: nodes run as its owner only; use "
        "another directory (--dir, TURNO_DIR), or be {}",
        path.string(), described(status), name_of_user(::geteuid()), name_of_user(status.st_uid)));
  return judge(path, status, access);
}

Expected<void> make_directory(const fs::path& directory, const DirectoryAccess& access) {
  const auto path = without_slash(directory);
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);  // if it fails, mkdir says why
  if (::mkdir(path.c_str(), S_IRWXU) != 0) {
    if (errno != EEXIST) return system_error(path, errno);
    // What its owner left closed may be opened for the group; what was open is not trusted.
    if (!access.group) return check_directory(path, access);
    if (auto closed = check_directory(path); !closed) return closed;
  }
  if (access.group && ::lchown(path.c_str(), static_cast<uid_t>(-1), *access.group) != 0)
    return system_error(path, errno);
  if (::chmod(path.c_str(), access.mode) != 0) return system_error(path, errno);
  return check_directory(path, access);
}

Expected<void> check_file(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return system_error(file, errno);
  }
  if (S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_nlink == 1 &&
      (status.st_mode & (S_IRWXG | S_IRWXO)) == 0)
    return {};
  return refusal(fmt::format(
      "{} ({}{}) must be a plain file of {} alone, with mode 0600: chmod 600, if that is all",
      file.string(), S_ISLNK(status.st_mode) ? "a symbolic link, " : "", described(status),
      name_of_user(::geteuid())));
}

}  // namespace turno::registry

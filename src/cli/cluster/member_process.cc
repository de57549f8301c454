#include "cli/cluster/member_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "registry/embedded/lock_file.h"
#include "registry/embedded/member_files.h"

namespace turno::cli {

namespace fs = std::filesystem;

namespace {

// The C library of some systems has these functions, but not for C++.
int open_process(std::int64_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
}
bool send_signal(int process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0) == 0;
}

bool has_open(std::int64_t pid, const fs::path& file, std::error_code& error) {
  struct stat wanted {};
  if (::stat(file.c_str(), &wanted) != 0) return false;
  fs::directory_iterator each(fmt::format("/proc/{}/fd", pid), error);
  for (const fs::directory_iterator end; !error && each != end; each.increment(error)) {
    struct stat found {};
    if (::stat(each->path().c_str(), &found) == 0 && found.st_dev == wanted.st_dev &&
        found.st_ino == wanted.st_ino)
      return true;
  }
  return false;
}

}  // namespace

tl::expected<MemberProcess, std::string> MemberProcess::find(const fs::path& directory,
                                                             const cluster::Member& member) {
  // Opened before it is looked at, so that what is seen is true of what is signalled.
  net::Fd process(open_process(member.pid));
  if (!process) return tl::unexpected(std::generic_category().message(errno));
  const auto file = registry::MemberFiles(directory / "members").path_of(member.id);
  std::error_code error;
  if (registry::look_at_lock(file) == registry::LockState::held &&
      has_open(member.pid, file, error))
    return MemberProcess(std::move(process));
  return tl::unexpected(error ? "its files cannot be seen: " + error.message()
                              : "that process does not hold " + file.string());
}

std::string MemberProcess::send(int signal) const {
  if (send_signal(process_.get(), signal) || errno == ESRCH) return {};
  return std::generic_category().message(errno);
}

bool MemberProcess::ends_within(std::chrono::milliseconds time) const {
  constexpr std::int64_t day = 86'400'000;
  pollfd ended{.fd = process_.get(), .events = POLLIN, .revents = 0};
  const auto limit = static_cast<int>(std::clamp<std::int64_t>(time.count(), 0, day));
  return ::poll(&ended, 1, limit) == 1;
}

}  // namespace turno::cli

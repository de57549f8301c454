#include "registry/embedded/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>

#include "core/assert.h"

namespace turno::registry {

// The lock files held by this process. Forking takes the guard, so a child never misses a
// descriptor that another thread is just opening.
struct HeldLockFiles {
  std::mutex guard;
  LockFile* first = nullptr;

  void add(LockFile& file) {
    file.next_ = first;
    file.previous_ = nullptr;
    if (first != nullptr) first->previous_ = &file;
    first = &file;
  }
  void remove(LockFile& file) {
    (file.previous_ == nullptr ? first : file.previous_->next_) = file.next_;
    if (file.next_ != nullptr) file.next_->previous_ = file.previous_;
    file.next_ = file.previous_ = nullptr;
  }

  static void before_fork();
  static void in_parent();
  static void in_child();  // only what is safe after a fork of a process with threads
};

namespace {

constinit HeldLockFiles held;

void watch_forks() {
  static const int done = ::pthread_atfork(HeldLockFiles::before_fork, HeldLockFiles::in_parent,
                                           HeldLockFiles::in_child);
  TURNO_ASSERT(done == 0);
}

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

bool same_file(int descriptor, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

tl::unexpected<Error> failure(const std::filesystem::path& path, int number) {
  return tl::unexpected(Error{
      Error::Kind::unavailable,
      fmt::format("lock file {}: {}", path.string(), std::generic_category().message(number))});
}

}  // namespace

void HeldLockFiles::before_fork() { held.guard.lock(); }
void HeldLockFiles::in_parent() { held.guard.unlock(); }
void HeldLockFiles::in_child() {
  for (auto* file = held.first; file != nullptr; file = file->next_) {
    ::close(file->descriptor_);
    file->descriptor_ = -1;
  }
  held.first = nullptr;
  held.guard.unlock();
}

Expected<void> LockFile::create(const std::filesystem::path& path) {
  TURNO_ASSERT(descriptor_ < 0);
  watch_forks();
  const std::lock_guard lock(held.guard);
  auto unnamed = path;
  unnamed += ".new";
  const int descriptor =
      ::open(unnamed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return failure(path, errno);
  auto range = whole_file();
  if (::fcntl(descriptor, F_OFD_SETLK, &range) != 0 ||
      ::rename(unnamed.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(unnamed.c_str());
    ::close(descriptor);
    return failure(path, number);
  }
  path_ = path;
  descriptor_ = descriptor;
  held.add(*this);
  return {};
}

bool LockFile::in_place() const { return descriptor_ >= 0 && same_file(descriptor_, path_); }

void LockFile::release() {
  const std::lock_guard lock(held.guard);
  if (descriptor_ < 0) return;
  held.remove(*this);
  ::close(descriptor_);
  descriptor_ = -1;
}

LockState look_at_lock(const std::filesystem::path& path) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return errno == ENOENT ? LockState::missing : LockState::unknown;
    auto range = whole_file();
    const bool answered = ::fcntl(descriptor, F_OFD_GETLK, &range) == 0;
    // A file that was replaced after it was opened says nothing about the one that replaced it.
    const bool current = same_file(descriptor, path);
    ::close(descriptor);
    if (!answered) return LockState::unknown;
    if (current) return range.l_type == F_UNLCK ? LockState::free : LockState::held;
  }
}

}  // namespace turno::registry

#include "cli/process/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>

namespace turno::cli {

// What the wrapper tells. A packet is a whole word.
struct Guard::Word {
  enum class Kind : std::uint8_t { watch, expires, lost, dismissed } kind;
  std::int64_t when = 0;  // as now() counts
};

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// ---- In the forked process only what may be called in a signal's handler: another thread may have
// held any lock at the fork.

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);  // what std::chrono::steady_clock reads
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The number at the beginning of a text, and its end.
long number_in(const char*& text) {
  long number = 0;
  while (*text >= '0' && *text <= '9') number = 10 * number + (*text++ - '0');
  return number;
}

// Whether the process is of the group, and more than an entry that its parent has not read yet.
bool is_alive_in(const char* pid, pid_t group) {
  std::array<char, 64> path{};
  std::strcpy(path.data(), "/proc/");
  std::strncat(path.data(), pid, 20);
  std::strcat(path.data(), "/stat");
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 256> text{};  // its name has 16 bytes at most
  const auto size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  const auto* after = size > 0 ? std::strrchr(text.data(), ')') : nullptr;
  if (after == nullptr || std::strlen(after) < 5) return false;
  const char state = after[2];
  after += 4;  // the parent, a space, the group
  number_in(after);
  if (*after++ != ' ') return false;
  return number_in(after) == group && state != 'Z' && state != 'X';
}

bool group_lives(pid_t group) {
  // EPERM: there is somebody whom this process may not kill.
  if (::kill(-group, 0) != 0 && errno == ESRCH) return false;
  const int folder = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return true;
  bool alive = false;
  alignas(std::uint64_t) std::array<char, 8192> room{};
  for (long size = 0;
       !alive && (size = ::syscall(SYS_getdents64, folder, room.data(), room.size())) > 0;)
    for (long at = 0; !alive && at < size;) {
      // As getdents64(2) says: two numbers of eight bytes, the length, a type, the name.
      std::uint16_t length = 0;
      std::memcpy(&length, room.data() + at + 16, sizeof length);
      const char* name = room.data() + at + 19;
      alive = *name >= '1' && *name <= '9' && is_alive_in(name, group);
      at += length;
    }
  ::close(folder);
  return alive;
}

// The bytes of a word and the descriptor that came with it, or -1. The size is 0 at the end.
struct Heard {
  ssize_t size = 0;
  int descriptor = -1;
};

Heard hear(int line, void* room, std::size_t size) {
  iovec part{.iov_base = room, .iov_len = size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Heard heard{.size = ::recvmsg(line, &message, MSG_CMSG_CLOEXEC)};
  if (heard.size <= 0) return heard;
  const auto* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&heard.descriptor, CMSG_DATA(header), sizeof(int));
  return heard;
}

}  // namespace

Guard::Guard(std::chrono::nanoseconds word_within) : word_within_(word_within) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  ours_.reset(ends[0]);
  theirs_.reset(ends[1]);
}

Guard::~Guard() { dismiss(); }

namespace {

// What the guard knows.
class Watch {
 public:
  Watch(int line, pid_t group, std::int64_t word_within)
      : line_(line), group_(group), word_within_(word_within) {}

  template <class Read>
  [[noreturn]] void run(const Read& read) {
    for (;;) {
      // What was said while this process was stopped counts.
      pollfd line{.fd = line_, .events = POLLIN, .revents = 0};
      while (::poll(&line, 1, 0) > 0)
        if (!read(*this)) outlive();
      const auto time = now();
      if (!killed_ && time >= kill_at()) kill();
      const auto left = killed_ ? never : kill_at() - time;
      // Rounded up: who is early looks again.
      const auto timeout =
          left > 3'600'000'000'000 ? 3'600'000 : static_cast<int>(left / 1'000'000 + 1);
      std::array<pollfd, 2> ready{
          pollfd{.fd = line_, .events = POLLIN, .revents = 0},
          pollfd{.fd = no_word_by_ == never ? connection_ : -1, .events = POLLRDHUP, .revents = 0}};
      if (::poll(ready.data(), ready.size(), timeout) < 0) continue;
      if (ready[1].revents != 0) no_word_by_ = now() + word_within_;
    }
  }

  void watch(int connection) {
    if (connection_ >= 0) ::close(connection_);
    connection_ = connection;
    no_word_by_ = never;
  }
  void expires(std::int64_t when) { expires_ = when; }
  void lost(std::int64_t when) {
    lost_ = when;
    no_word_by_ = never;
    if (connection_ >= 0) ::close(connection_);
    connection_ = -1;
  }
  [[noreturn]] void dismissed() const { ::_exit(killed_ ? 1 : 0); }

 private:
  [[nodiscard]] std::int64_t kill_at() const {
    return std::min(std::min(no_word_by_, expires_), lost_);
  }
  void kill() {
    ::kill(-group_, SIGKILL);  // also if it is stopped
    killed_ = true;
  }
  // The wrapper is gone. Until the group is gone, this process keeps the connections to the nodes
  // open, and so the lock.
  [[noreturn]] void outlive() {
    kill();
    for (int i = 0; group_lives(group_); ++i) {
      ::usleep(i < 100 ? 1000 : 20'000);
      ::kill(-group_, SIGKILL);  // also who came in since
    }
    ::_exit(1);
  }

  const int line_;
  const pid_t group_;
  const std::int64_t word_within_;
  int connection_ = -1;
  std::int64_t no_word_by_ = never, expires_ = never, lost_ = never;
  bool killed_ = false;
};

}  // namespace

bool Guard::start(pid_t group) {
  const std::scoped_lock lock(mutex_);
  pid_ = ::fork();
  if (pid_ < 0) return false;
  if (pid_ > 0) {
    theirs_.reset();
    return true;
  }
  ::setsid();  // what is done to the group of the wrapper is not done to the guard
  ::prctl(PR_SET_NAME, "turno-guard");
  ::close(ours_.get());
  for (const auto descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(descriptor);
  Watch(theirs_.get(), group, word_within_.count()).run([this](Watch& watch) {
    Word word{};
    const auto heard = hear(theirs_.get(), &word, sizeof word);
    if (heard.size < 0 && errno == EINTR) return true;
    if (heard.size != sizeof word) return false;
    switch (word.kind) {
      case Word::Kind::watch:
        watch.watch(heard.descriptor);
        break;
      case Word::Kind::expires:
        watch.expires(word.when);
        break;
      case Word::Kind::lost:
        watch.lost(word.when);
        break;
      case Word::Kind::dismissed:
        watch.dismissed();
    }
    return true;
  });
}

void Guard::say(const Word& word, int descriptor) {
  auto copy = word;
  iovec part{.iov_base = &copy, .iov_len = sizeof copy};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  const std::scoped_lock lock(mutex_);
  if (!ours_) return;
  // A guard that is gone needs no word, and one that does not read its words is stopped.
  while (::sendmsg(ours_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) {
  }
}

void Guard::watch(int connection) { say({.kind = Word::Kind::watch}, connection); }

void Guard::expires(Clock::time_point when) {
  say({.kind = Word::Kind::expires, .when = when.time_since_epoch().count()});
}

void Guard::lost(Clock::time_point when) {
  say({.kind = Word::Kind::lost, .when = when.time_since_epoch().count()});
}

bool Guard::dismiss() {
  if (pid_ <= 0) return false;
  say({.kind = Word::Kind::dismissed});
  {
    const std::scoped_lock lock(mutex_);
    ours_.reset();
  }
  int status = 0;
  // One that is stopped is not waited for.
  const net::Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd ready{.fd = ended.get(), .events = POLLIN, .revents = 0};
  if (ended && ::poll(&ready, 1, 500) == 0) ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

}  // namespace turno::cli

#include "cli/process/offspring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "net/fd.h"

namespace turno::cli {

namespace {

// Where this program is. Its link is used as it is only if the file was replaced: a process that is
// started by it is listed as "exe".
std::string own_path() {
  std::array<char, 4096> path{};
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || static_cast<std::size_t>(size) == path.size()) return "/proc/self/exe";
  std::string found(path.data(), static_cast<std::size_t>(size));
  return ::access(found.c_str(), X_OK) == 0 ? found : "/proc/self/exe";
}

// Only system calls between fork and exec.
[[noreturn]] void become(char* const* arguments, int input, const Launch& wanted, pid_t parent) {
  ::setsid();
  if (wanted.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);  // it ended before it was asked
  }
  ::dup2(input, STDIN_FILENO);
  if (wanted.output >= 0) {
    ::dup2(wanted.output, STDOUT_FILENO);
    ::dup2(wanted.output, STDERR_FILENO);
  }
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

}  // namespace

tl::expected<pid_t, Error> launch(const Launch& wanted) {
  std::vector<std::string> words{own_path()};
  words.insert(words.end(), wanted.arguments.begin(), wanted.arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const net::Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child == 0)
    become(pointers.data(), wanted.input >= 0 ? wanted.input : nothing.get(), wanted, parent);
  if (child < 0)
    return tl::unexpected(
        Error{Error::Code::unavailable,
              "cannot start another process: " + std::generic_category().message(errno)});
  return child;
}

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return fmt::format("status {}", WEXITSTATUS(status));
  return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

Interruption::Interruption() {
  ::sigemptyset(&waited_for_);
  ::signal(SIGCHLD, SIG_DFL);  // if it was ignored, the ends of children could not be seen
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) ::sigaddset(&waited_for_, number);
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaddset(&waited_for_, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &waited_for_, &before_);
}

Interruption::~Interruption() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> Interruption::wait(std::chrono::milliseconds time) const {
  const timespec limit{.tv_sec = time.count() / 1000, .tv_nsec = time.count() % 1000 * 1'000'000};
  const auto number = ::sigtimedwait(&waited_for_, nullptr, &limit);
  if (number < 0 || number == SIGCHLD) return std::nullopt;
  return number;
}

}  // namespace turno::cli

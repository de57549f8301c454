#include "cli/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX asks for it

namespace turno::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto never = Clock::time_point::max();

constexpr std::array signals_taken = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                      SIGUSR2, SIGALRM, SIGTSTP, SIGCONT, SIGCHLD};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// A pipe that programs do not inherit.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_reader();
    close_writer();
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }

 private:
  static void close(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

// Reads all of it; false at the end of the pipe. Like all that runs between fork and exec it uses
// system calls only: another thread may have held any lock at the fork.
bool read_fully(int descriptor, void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const auto got = ::read(descriptor, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void write_byte(int descriptor) {
  const char byte = 1;
  while (::write(descriptor, &byte, 1) < 0 && errno == EINTR) {
  }
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  auto all = added;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::none_of(added.begin(), added.end(),
                     [&](const std::string& other) { return name(other) == name(*entry); }))
      all.emplace_back(*entry);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The terminal from which this process is controlled, if any. One process group has it.
class Terminal {
 public:
  Terminal() : descriptor_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {}
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool belongs_to(pid_t group) const {
    return descriptor_ >= 0 && group > 0 && ::tcgetpgrp(descriptor_) == group;
  }
  [[nodiscard]] bool is_ours() const { return belongs_to(::getpgrp()); }
  // SIGTTOU is blocked, or this would stop who does it from the background.
  void give_to(pid_t group) const { ::tcsetpgrp(descriptor_, group); }

 private:
  int descriptor_;
};

// An interactive command gets the terminal at once. In a pipeline what follows may need it (a
// pager), and the command gets it when it reaches for it.
bool is_interactive() {
  struct stat out {};
  const bool piped = ::fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode);
  return ::isatty(STDIN_FILENO) == 1 && !piped;
}

class Supervisor {
 public:
  Supervisor(const CommandToRun& command, const Signals& signals, Guard& guard)
      : arguments_(command.arguments),
        environment_(environment_with(command.environment)),
        signals_(signals),
        guard_(guard) {}
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  std::optional<CommandError> start();
  CommandEnd supervise(const Terms& terms);

 private:
  [[noreturn]] void become_command(char** arguments, char** environment, Pipe& go, Pipe& failure,
                                   pid_t parent) const;
  void stop(const Terms& terms, Loss loss);
  bool kill_if_time();
  [[nodiscard]] int time_left(const Terms& terms) const;
  void handle(int signal);
  void reap();
  void follow_stop(int signal);
  void resume() const;
  void take_terminal_back() const;

  std::vector<std::string> arguments_, environment_;
  const Signals& signals_;
  Guard& guard_;
  const Terminal terminal_;
  bool wants_terminal_ = is_interactive();
  pid_t child_ = -1;
  std::optional<int> status_;
  Clock::time_point kill_at_ = never;
  bool stopping_ = false;    // because the lock is lost
  bool group_gone_ = false;  // nobody is left of it, as far as its members were inherited
};

void Supervisor::become_command(char** arguments, char** environment, Pipe& go, Pipe& failure,
                                pid_t parent) const {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char byte = 0;
  // The other ends close with the parent.
  go.close_writer();
  failure.close_reader();
  if (::getppid() != parent || !read_fully(go.reader(), &byte, 1)) ::_exit(125);
  if (wants_terminal_ && terminal_.belongs_to(::getpgid(parent))) terminal_.give_to(::getpid());
  ::sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
  ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(failure.writer(), &error, sizeof error);
  ::_exit(126);
}

std::optional<CommandError> Supervisor::start() {
  const auto arguments = pointers_to(arguments_);
  const auto environment = pointers_to(environment_);
  // What the command leaves behind becomes a child of this process, which so hears when it ends.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Pipe go, failure;
  const auto parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) fail("fork");
  if (child_ == 0)
    become_command(const_cast<char**>(arguments.data()), const_cast<char**>(environment.data()), go,
                   failure, parent);
  ::setpgid(child_, child_);  // both do it: whoever comes first
  go.close_reader();
  failure.close_writer();
  // If it fails, the command has not begun, and ends with the pipe.
  if (!guard_.start(child_)) fail("fork");
  write_byte(go.writer());

  int error = 0;
  if (!read_fully(failure.reader(), &error, sizeof error)) return std::nullopt;
  ::waitpid(child_, nullptr, 0);
  take_terminal_back();
  child_ = -1;
  const bool missing = error == ENOENT || error == ENOTDIR;
  return CommandError{missing ? 127 : 126,
                      arguments_.front() + ": " +
                          (missing ? "command not found" : std::generic_category().message(error))};
}

Supervisor::~Supervisor() {
  take_terminal_back();
  guard_.dismiss();
}

void Supervisor::take_terminal_back() const {
  if (terminal_.belongs_to(child_)) terminal_.give_to(::getpgrp());
}

CommandEnd Supervisor::supervise(const Terms& terms) {
  const Notice notice;
  const std::stop_callback tell(terms.lost, [&] { notice.notify(); });
  reap();  // it may have ended before anybody listened
  // A lost lock means that all of the group has to go.
  while (!status_ || (stopping_ && !group_gone_)) {
    if (kill_if_time() && status_) break;
    // Once told, the notice would stay readable.
    std::array<pollfd, 2> ready{
        pollfd{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = stopping_ ? -1 : notice.descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), time_left(terms));
    while (const auto signal = signals_.next()) handle(*signal);
    if (stopping_ || status_) continue;
    if (terms.lost.stop_requested()) {
      stop(terms, Loss::told);
    } else if (terms.expiry != nullptr && Clock::now() >= terms.expiry->stop_at()) {
      stop(terms, Loss::expired);
    }
  }
  const bool killed = guard_.dismiss();
  return {.status = status_.value_or(0), .lost = stopping_ || killed};
}

void Supervisor::stop(const Terms& terms, Loss loss) {
  stopping_ = true;
  kill_at_ = Clock::now() + terms.kill_after;
  if (terms.expiry != nullptr) kill_at_ = std::min(kill_at_, terms.expiry->kill_at());
  guard_.lost(kill_at_);
  if (terms.on_loss) terms.on_loss(loss);
  ::kill(-child_, SIGTERM);
  ::kill(-child_, SIGCONT);  // a stopped process would not hear it
}

bool Supervisor::kill_if_time() {
  if (Clock::now() < kill_at_) return false;
  ::kill(-child_, SIGKILL);
  kill_at_ = never;
  return true;
}

// In milliseconds, for poll(): until the command has to be stopped or killed.
int Supervisor::time_left(const Terms& terms) const {
  auto next = kill_at_;
  if (terms.expiry != nullptr && !stopping_) next = std::min(next, terms.expiry->stop_at());
  if (next == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void Supervisor::handle(int signal) {
  if (signal == SIGCHLD) return reap();
  if (signal == SIGCONT) return resume();
  ::kill(-child_, signal);
}

void Supervisor::reap() {
  int status = 0;
  for (;;) {
    const auto pid = ::waitpid(-child_, &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == ECHILD) group_gone_ = true;
    if (pid <= 0) break;
    if (pid != child_) continue;
    if (WIFSTOPPED(status)) follow_stop(WSTOPSIG(status));
    if (WIFEXITED(status)) status_ = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) status_ = 128 + WTERMSIG(status);
  }
  // Orphans that left the group: nobody else would bury them.
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
         info.si_pid != child_ && info.si_pid != guard_.pid()) {
    ::waitpid(info.si_pid, nullptr, 0);
    info = {};
  }
}

void Supervisor::follow_stop(int signal) {
  const bool reached_for_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (stopping_ || (signal != SIGTSTP && !reached_for_terminal)) return;
  wants_terminal_ |= reached_for_terminal;
  if (reached_for_terminal && terminal_.is_ours()) return resume();
  // The user stopped it at the terminal, or it waits for the terminal in the background: the shell
  // is to see the whole job stop.
  if (terminal_.belongs_to(child_)) {
    take_terminal_back();
    ::kill(0, SIGTSTP);
  }
  stop_until_continued();
  // In the foreground again, it gets the terminal again.
  resume();
}

void Supervisor::resume() const {
  if (wants_terminal_ && terminal_.is_ours()) terminal_.give_to(child_);
  ::kill(-child_, SIGCONT);
}

}  // namespace

Signals::Signals() {
  ::signal(SIGCHLD, SIG_DFL);  // ignored, the end of a child would go unnoticed
  sigset_t taken, blocked;
  ::sigemptyset(&taken);
  for (const auto number : signals_taken) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&taken, number);
  }
  blocked = taken;
  ::sigaddset(&blocked, SIGTTOU);
  if (::pthread_sigmask(SIG_BLOCK, &blocked, &before_) != 0) fail("sigmask");
  descriptor_ = ::signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) fail("signalfd");
}

Signals::~Signals() {
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> Signals::next() const {
  signalfd_siginfo info{};
  if (::read(descriptor_, &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

Notice::Notice() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) fail("eventfd");
}

Notice::~Notice() { ::close(descriptor_); }

void Notice::notify() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

void stop_until_continued() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // here it stops
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

tl::expected<CommandEnd, CommandError> run_command(const CommandToRun& command,
                                                   const Signals& signals, const Terms& terms,
                                                   Guard& guard) {
  try {
    Supervisor supervisor(command, signals, guard);
    if (auto error = supervisor.start()) return tl::unexpected(std::move(*error));
    return supervisor.supervise(terms);
  } catch (const std::system_error& error) {
    return tl::unexpected(CommandError{125, error.what()});
  }
}

}  // namespace turno::cli

#include "processes.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "core/random.h"

namespace turno::torture {

using namespace std::chrono_literals;

void stop(Process& process, std::chrono::milliseconds time) {
  process.stopped = now_ns();
  process.resume_at = process.stopped + std::chrono::nanoseconds(time).count();
  ::kill(process.pid, SIGSTOP);
}

Stop resume(Process& process) {
  ::kill(process.pid, SIGCONT);
  const Stop done{.from = process.stopped, .to = now_ns()};
  process.stopped = 0;
  return done;
}

void kill(Process& process) {
  ::kill(process.pid, SIGKILL);
  int status = 0;
  ::waitpid(process.pid, &status, 0);
  process.ended = true;
}

std::optional<int> look(Process& process) {
  int status = 0;
  if (::waitpid(process.pid, &status, WNOHANG) == 0) return {};
  process.ended = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int wait(Process& process, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const auto status = look(process)) return *status;
    if (std::chrono::steady_clock::now() > deadline) {
      kill(process);
      return 128 + SIGKILL;
    }
    std::this_thread::sleep_for(2ms);
  }
}

Process start_node(const NodeOptions& options, const std::string& name) {
  std::vector<std::string> words = {
      "turno",        "node",
      "--dir",        options.directory.string(),
      "--name",       name,
      "--algorithm",  options.algorithm,
      "--allocator",  options.allocator,
      "--lock-delay", std::to_string(options.lock_delay.count()) + "ms",
      "--idle",       std::to_string(options.idle.count()) + "ms",
      "--log-level",  options.log_level};
  if (!options.without.empty()) words.insert(words.end(), {"--without", options.without});
  const std::pair<const char*, const std::string*> departures[] = {
      {"--departure", &options.departure},
      {"--semaphore-departure", &options.semaphore_departure},
      {"--room-departure", &options.room_departure},
      {"--store-departure", &options.store_departure}};
  for (const auto& [option, rule] : departures)
    if (!rule->empty()) words.insert(words.end(), {option, *rule});
  if (!options.news_in_order) words.emplace_back("--news-in-any-order");
  if (!options.eager) words.emplace_back("--not-eager");
  if (!options.deadlock.empty()) words.insert(words.end(), {"--deadlock", options.deadlock});
  if (!options.missing_rule.empty())
    words.insert(words.end(), {"--missing-rule", options.missing_rule});
  for (const auto& line : options.lines)
    if (line.from == name)
      words.insert(words.end(), {"--line", line.to + ":" + std::to_string(line.latency.count()) +
                                               ":" + std::to_string(line.spacing.count())});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto log = (options.directory / (name + ".log")).string();
  Process process;
  process.pid = ::fork();
  if (process.pid != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(options.binary.c_str(), arguments.data());
  ::_exit(127);
}

bool is_up(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool up = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return up;
}

Process start_client(Board& board, const ClientOptions& options) {
  Process process;
  process.pid = ::fork();
  if (process.pid != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::_exit(live(board, options));
}

namespace {

// Whether it was a connection over TCP.
bool cut(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return false;
  // Connecting a connected socket to nothing resets the connection.
  sockaddr nothing{};
  nothing.sa_family = AF_UNSPEC;
  return ::connect(fd, &nothing, sizeof nothing) == 0;
}

}  // namespace

std::size_t cut_connections(const Process& process, std::uint32_t of, std::uint64_t seed) {
  Random random(seed);
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
  if (pidfd < 0) return 0;
  std::size_t count = 0;
  std::error_code error;
  const auto directory = "/proc/" + std::to_string(process.pid) + "/fd";
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (random.below(of) != 0) continue;
    const int number = std::atoi(entry->path().filename().c_str());
    const auto fd = static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, number, 0));
    if (fd < 0) continue;
    count += cut(fd) ? 1U : 0U;
    ::close(fd);
  }
  ::close(pidfd);
  return count;
}

}  // namespace turno::torture

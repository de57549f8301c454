#include "processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

namespace turno::torture {

using namespace std::chrono_literals;

void stop(Process& process) {
  ::kill(process.pid, SIGSTOP);
  process.stopped = true;
}

void resume(Process& process) {
  ::kill(process.pid, SIGCONT);
  process.stopped = false;
}

void kill(Process& process) {
  process.killed = now_ns();
  ::kill(process.pid, SIGKILL);
  int status = 0;
  ::waitpid(process.pid, &status, 0);
}

int wait(Process& process, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (::waitpid(process.pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(process);
      return 128 + SIGKILL;
    }
    std::this_thread::sleep_for(5ms);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Process start_node(const NodeOptions& options, const std::string& name) {
  const auto directory = options.directory.string();
  const auto log = (options.directory / (name + ".log")).string();
  const auto delay = std::to_string(options.lock_delay.count()) + "ms";
  const auto idle = std::to_string(options.idle.count()) + "ms";
  Process process;
  process.pid = ::fork();
  if (process.pid != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execl(options.binary.c_str(), "turno", "node", "--dir", directory.c_str(), "--name",
          name.c_str(), "--algorithm", options.algorithm.c_str(), "--lock-delay", delay.c_str(),
          "--idle", idle.c_str(), "--log-level", options.log_level.c_str(), nullptr);
  ::_exit(127);
}

bool comes_up(const std::filesystem::path& socket, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  while (std::chrono::steady_clock::now() < deadline) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool up = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (up) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

Process start_client(Board& board, const ClientOptions& options) {
  Process process;
  process.pid = ::fork();
  if (process.pid != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::_exit(live(board, options));
}

}  // namespace turno::torture

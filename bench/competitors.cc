#include "competitors.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

namespace turno::bench {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

Program::Program(const std::vector<std::string>& words, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

Program::~Program() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGTERM);
  for (int i = 0; i < 300; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(10ms);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

int Program::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, 0), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

double rate_of_processes(std::size_t processes, std::chrono::milliseconds time,
                         const std::function<void(std::size_t, Shared&)>& work) {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  auto& shared = *new (memory) Shared;
  std::vector<pid_t> pids;
  for (std::size_t i = 0; i < processes; ++i) {
    const auto pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      work(i, shared);
      ::_exit(0);
    }
    pids.push_back(pid);
  }
  while (shared.ready < processes) std::this_thread::sleep_for(1ms);
  shared.start = true;
  std::this_thread::sleep_for(100ms);  // everybody is under way
  const auto sum = [&] {
    std::uint64_t total = 0;
    for (const auto& count : shared.counts) total += count.load(std::memory_order_relaxed);
    return total;
  };
  const auto before = sum();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(time);
  const auto count = sum() - before;
  const auto seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  shared.go_on = false;
  const auto deadline = Clock::now() + 5s;
  for (auto pid : pids) {
    while (::waitpid(pid, nullptr, WNOHANG) == 0) {
      if (Clock::now() > deadline) ::kill(pid, SIGKILL);
      std::this_thread::sleep_for(1ms);
    }
  }
  ::munmap(memory, sizeof(Shared));
  return static_cast<double>(count) / seconds;
}

namespace {

void await_start(Shared& shared) {
  ++shared.ready;
  while (!shared.start) std::this_thread::sleep_for(1ms);
}

}  // namespace

double token_ring(std::size_t processes, std::chrono::milliseconds time) {
  // Everybody listens before anybody connects.
  std::vector<int> listeners;
  std::vector<sockaddr_in> addresses;
  for (std::size_t i = 0; i < processes; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(fd, 4);
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    listeners.push_back(fd);
    addresses.push_back(address);
  }
  const auto rate = rate_of_processes(processes, time, [&](std::size_t number, Shared& shared) {
    const int next = ::socket(AF_INET, SOCK_STREAM, 0);
    const auto& address = addresses[(number + 1) % processes];
    (void)::connect(next, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int one = 1;
    ::setsockopt(next, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const int before = ::accept(listeners[number], nullptr, nullptr);
    await_start(shared);
    std::array<char, 16> token{};
    if (number == 0) [[maybe_unused]]
      const auto sent = ::send(next, token.data(), token.size(), 0);
    while (shared.go_on && ::recv(before, token.data(), token.size(), 0) > 0) {
      shared.add(number);
      if (::send(next, token.data(), token.size(), MSG_NOSIGNAL) < 0) break;
    }
  });
  for (int fd : listeners) ::close(fd);
  return rate;
}

double file_locks(std::size_t processes, const std::filesystem::path& file,
                  std::chrono::milliseconds time) {
  return rate_of_processes(processes, time, [&](std::size_t number, Shared& shared) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    await_start(shared);
    while (shared.go_on) {
      ::flock(fd, LOCK_EX);
      if (processes == 1) {
        shared.add(number);
      } else {
        shared.entered(number);
      }
      ::flock(fd, LOCK_UN);
    }
  });
}

}  // namespace turno::bench

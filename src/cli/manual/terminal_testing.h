// A program that somebody types commands into: bash, redis-cli.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace turno::manual {

class Terminal {
 public:
  explicit Terminal(std::vector<std::string> words) {
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      std::signal(SIGPIPE, SIG_DFL);
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(out[1], STDERR_FILENO);
      ::execvp(pointers[0], pointers.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(in_);
    ::close(out_);
    for (int i = 0; i < 500; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void type(const std::string& text) const {
    if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("a terminal does not read");
  }
  // What has been printed since it was last taken; waits a moment for more.
  const std::string& printed() {
    pollfd ready{.fd = out_, .events = POLLIN, .revents = 0};
    std::array<char, 4096> bytes{};
    if (::poll(&ready, 1, 10) > 0)
      if (const auto size = ::read(out_, bytes.data(), bytes.size()); size > 0)
        printed_.append(bytes.data(), static_cast<std::size_t>(size));
    return printed_;
  }
  void take() { printed_.clear(); }
  // Some do not end when there is nobody any more who types.
  void end() const { ::kill(pid_, SIGTERM); }

 private:
  pid_t pid_ = 0;
  int in_ = -1, out_ = -1;
  std::string printed_;
};

}  // namespace turno::manual

#include "cli/experiments/workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <stdexcept>

#include "cli/experiments/run_line.h"
#include "lab/run_log.h"

namespace turno::cli {

namespace {

constexpr std::string_view trouble = "trouble\t";

struct Worker {
  const lab::Task* task;
  pid_t pid;
  int pipe;
  std::string text;
};

[[noreturn]] void work(const lab::Task& task, int pipe, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const auto text = told(task);
  std::size_t written = 0;
  while (written < text.size()) {
    const auto more = ::write(pipe, text.data() + written, text.size() - written);
    if (more < 0 && errno != EINTR) ::_exit(1);
    if (more > 0) written += static_cast<std::size_t>(more);
  }
  ::_exit(0);
}

Worker start(const lab::Task& task) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  const auto parent = ::getpid();
  const auto pid = ::fork();
  if (pid < 0) throw std::runtime_error(std::string("cannot fork: ") + std::strerror(errno));
  if (pid == 0) {
    ::close(ends[0]);
    work(task, ends[1], parent);
  }
  ::close(ends[1]);
  return {&task, pid, ends[0], {}};
}

// False: it has said everything.
bool read_some(Worker& worker) {
  std::array<char, 16384> buffer{};
  const auto got = ::read(worker.pipe, buffer.data(), buffer.size());
  if (got > 0) worker.text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

void bury(const Worker& worker) {
  ::close(worker.pipe);
  while (::waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Ends what still runs, also if something is thrown.
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (const auto& worker : all_) ::kill(worker.pid, SIGKILL);
    for (const auto& worker : all_) bury(worker);
  }

  void add(const lab::Task& task) { all_.push_back(start(task)); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  void wait(const Done& done) {
    std::vector<pollfd> pipes;
    for (const auto& worker : all_) pipes.push_back({.fd = worker.pipe, .events = POLLIN});
    if (::poll(pipes.data(), pipes.size(), -1) < 0) return;
    auto worker = all_.begin();
    for (const auto& pipe : pipes) {
      const auto here = worker++;
      if (pipe.revents == 0 || read_some(*here)) continue;
      const auto ended = std::move(*here);
      all_.erase(here);
      bury(ended);
      done(*ended.task, heard(*ended.task, ended.text));
    }
  }

 private:
  std::list<Worker> all_;
};

}  // namespace

std::string told(const lab::Task& task, FieldRunner processes) {
  try {
    return lab::log_line(task.line(), run_task(task, processes));
  } catch (const std::exception& error) {
    return std::string(trouble) + error.what();
  }
}

lab::Measured heard(const lab::Task& task, const std::string& text) {
  if (text.starts_with(trouble))
    throw std::runtime_error(fmt::format("turno {}: {}", task.line(), text.substr(trouble.size())));
  const auto read = lab::read_log(lab::first_line("worker") + text, "worker");
  const auto found = read.find(task.line());
  if (found == read.end())
    throw std::runtime_error(fmt::format("turno {} ended without a result", task.line()));
  return found->second;
}

void run_in_workers(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done) {
  Workers workers;
  for (std::size_t next = 0; next < tasks.size() || workers.size() > 0;) {
    while (next < tasks.size() && workers.size() < jobs) workers.add(tasks[next++]);
    workers.wait(done);
  }
}

}  // namespace turno::cli

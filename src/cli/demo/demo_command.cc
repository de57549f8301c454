// turno demo shared-file: processes that write one file in turns, or without turns.
#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <system_error>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/commands.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/local_members.h"
#include "cli/demo/demo_report.h"
#include "cli/demo/shared_file_process.h"
#include "cli/frame/duration.h"
#include "cli/frame/readable.h"
#include "core/random.h"
#include "core/usage_error.h"
#include "net/fd.h"

namespace turno::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct DemoOptions {
  std::size_t processes = 5, operations = 5;
  std::string file, algorithm, directory, hold = "5ms";
  std::optional<std::uint64_t> seed;
  bool without_lock = false, json = false;
};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

std::string reason() { return std::generic_category().message(errno); }

// Gone at the end.
class Scratch {
 public:
  Scratch() {
    auto name = (fs::temp_directory_path() / "turno-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail("cannot make " + name + ": " + reason());
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The processes of the demonstration. They end with this object. All have one end of a connection
// as their standard input: each says there that it is ready, and begins when the connection ends.
class Workers {
 public:
  Workers() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      fail("socketpair: " + reason());
    input_.reset(ends[0]);
    gate_.reset(ends[1]);
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (const auto pid : pids_) ::kill(pid, SIGTERM);
    for (const auto pid : pids_) ::waitpid(pid, nullptr, 0);
  }

  void start(const SharedFileProcess& worker) {
    std::vector<std::string> words{"demo",         "shared-file-process",
                                   "--file",       worker.file,
                                   "--process",    std::to_string(worker.process),
                                   "--operations", std::to_string(worker.operations),
                                   "--seed",       std::to_string(worker.seed),
                                   "--hold-ms",    std::to_string(worker.hold_ms)};
    if (!worker.node.empty())
      words.insert(words.end(), {"--node", worker.node, "--lock", worker.lock});
    const auto pid = launch({.arguments = words, .input = input_.get()});
    if (!pid) fail(pid.error().message);
    pids_.push_back(*pid);
  }

  // Lets them begin together and waits for all. True: all did their work. An error is the signal
  // that came.
  tl::expected<bool, int> run(const Interruption& interruption, Clock::time_point& begin) {
    const auto count = pids_.size();
    for (std::size_t ready = 0; ready < count && pids_.size() == count;) {
      if (const auto signal = interruption.wait(2ms)) return tl::unexpected(*signal);
      std::array<char, 64> bytes{};
      const auto got = ::recv(gate_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got > 0) ready += static_cast<std::size_t>(got);
      forget_ended();
    }
    gate_.reset();
    for (begin = Clock::now(); !pids_.empty(); forget_ended())
      if (const auto signal = interruption.wait(100ms)) return tl::unexpected(*signal);
    return all_fine_;
  }

 private:
  void forget_ended() {
    std::erase_if(pids_, [&](pid_t pid) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != pid) return false;
      all_fine_ = all_fine_ && status == 0;
      return true;
    });
  }

  net::Fd input_, gate_;
  std::vector<pid_t> pids_;
  bool all_fine_ = true;
};

void make_file(const fs::path& path, std::int64_t start) {
  const net::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file)
    fail(path.string() + ": " + reason() + (errno == EEXIST ? "; name a file that does not" : ""));
  const auto text = std::to_string(start) + "\n";
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail(path.string() + ": " + reason());
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The nodes to use: those of a running cluster, or fresh ones.
cluster::View nodes_for(const DemoOptions& options, LocalCluster& fresh) {
  if (options.directory.empty()) {
    if (const auto started = fresh.start(options.processes, true); !started)
      fail(started.error().message);
    return fresh.view();
  }
  auto view = live_members(cluster_directory(options.directory));
  if (!view) fail(view.error().message);
  if (view->members.empty())
    fail(fmt::format("no node runs in {}; start some: {} up --dir {}", options.directory, program(),
                     shell_word(options.directory)));
  if (!options.algorithm.empty() && options.algorithm != view->algorithm)
    fail(fmt::format("the cluster in {} runs {}, not {}", options.directory, view->algorithm,
                     options.algorithm));
  return std::move(*view);
}

void check(const DemoOptions& options) {
  if (options.processes < 1 || options.processes > cluster::most_members)
    throw UsageError(fmt::format("--processes is 1 to {}", cluster::most_members));
  if (options.operations < 1 || options.operations > 100'000)
    throw UsageError("--operations is 1 to 100000");
  if (options.without_lock && !(options.algorithm.empty() && options.directory.empty()))
    throw UsageError("--without-lock needs neither --algorithm nor --dir: no node is asked");
}

int run(const DemoOptions& options) {
  check(options);
  const auto hold = parse_duration("--hold", options.hold);
  const Interruption interruption;
  const Scratch scratch;
  NodeOptions node_options;
  node_options.place.directory = scratch.path() / "cluster";
  node_options.algorithm = options.algorithm;
  LocalCluster fresh(node_options, interruption);

  DemoReport report;
  report.seed = options.seed.value_or(std::random_device()());
  report.file = options.file.empty() ? scratch.path() / "shared-file" : fs::absolute(options.file);
  report.file_stays = !options.file.empty();
  report.expected = {.start = static_cast<std::int64_t>(
                         Random(report.seed).below(static_cast<std::uint64_t>(Operation::modulus))),
                     .processes = options.processes,
                     .operations = options.operations,
                     .locked = !options.without_lock};
  make_file(report.file, report.expected.start);
  if (!options.without_lock) {
    const auto view = nodes_for(options, fresh);
    report.algorithm = view.algorithm;
    report.nodes = view.members;
  }

  Workers workers;
  for (std::size_t i = 0; i < options.processes; ++i)
    workers.start(
        {.file = report.file,
         .node = report.nodes.empty() ? "" : client_address(report.nodes[i % report.nodes.size()]),
         .lock = "demo:" + report.file.filename().string(),
         .process = i + 1,
         .operations = options.operations,
         .seed = report.seed,
         .hold_ms = hold.count()});
  Clock::time_point begin;
  const auto finished = workers.run(interruption, begin);
  if (!finished) return exit_signal + finished.error();
  report.elapsed = std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin);
  report.verdict = verify(contents(report.file), report.expected);
  fresh.stop();
  options.json ? report.print_json() : report.print_text();
  if (!*finished) return exit_own_error;
  return report.verdict.violations.empty() ? 0 : exit_violated;
}

void add_process(Command demo, Job& job) {
  auto command = demo.add_subcommand("shared-file-process", "One process of shared-file");
  command.hide();
  auto worker = std::make_shared<SharedFileProcess>();
  command.add_option("--file", worker->file).required();
  command.add_option("--node", worker->node);
  command.add_option("--lock", worker->lock);
  command.add_option("--process", worker->process).required();
  command.add_option("--operations", worker->operations).required();
  command.add_option("--seed", worker->seed).required();
  command.add_option("--hold-ms", worker->hold_ms).required();
  command.callback([&job, worker] { job = [worker] { return worker->run(); }; });
}

void add_shared_file(Command demo, Job& job) {
  auto command = demo.add_subcommand(
      "shared-file", "Processes append to one file what they compute from its last value");
  auto options = std::make_shared<DemoOptions>();
  command.add_option("--processes,-p", options->processes, "How many").capture_default_str();
  command.add_option("--operations,-o", options->operations, "Of each process")
      .capture_default_str();
  command.add_option("--file", options->file, "A new file, which stays (default: a temporary one)");
  command.add_option("--algorithm,-a", options->algorithm, "The lock algorithm (turno algorithms)");
  command.add_option("--dir", options->directory,
                     "Use the cluster that runs in this directory (default: start one of as many "
                     "nodes as processes)");
  command.add_option("--hold", options->hold, "The time between reading and writing")
      .capture_default_str();
  command.add_option("--seed", options->seed, "For the first value and the pauses");
  command.add_flag("--without-lock", options->without_lock,
                   "Take no turns: see how the file is corrupted");
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "\nEach process has its own node and its own operation, so that from one value no two make\n"
      "the same. Afterwards the whole file is verified: every line continues the one before,\n"
      "every result is right, the fences of the lock only grow, everybody did its operations.\n"
      "\nExit status: 0 verified; 1 the file is corrupt; 125 Turno's own error; 64 usage.\n"
      "\nExamples:\n  turno demo shared-file\n  turno demo shared-file --without-lock\n"
      "  turno demo shared-file --algorithm ricart-agrawala --processes 8 --operations 10\n");
  command.callback([&job, options] { job = [options] { return run(*options); }; });
}

}  // namespace

void add_demo(Command app, Job& job) {
  auto command = app.add_subcommand("demo", "See it work: turno demo shared-file");
  add_shared_file(command, job);
  add_process(command, job);
  command.callback([command] {
    if (!command.subcommand_chosen())
      throw UsageError("which demo? There is one: turno demo shared-file");
  });
  command.footer("\nExample:\n  turno demo shared-file\n");
}

}  // namespace turno::cli

// turno-torture: a real cluster and real clients, while nodes and clients are stopped, continued
// and killed at random moments. Ends with 0 if, by the clients' own records, no two ever held a
// lock at once, fences only grew, and everybody was served again.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/random.h"
#include "judge.h"
#include "processes.h"

namespace turno::torture {
namespace {

using namespace std::chrono_literals;

struct Options {
  NodeOptions node;
  std::uint32_t nodes = 5, clients = 15, locks = 3;
  double seconds = 3;
  std::uint64_t seed = 1;
  bool faults = true, quiet = false;
  double slack = 1;  // how many times slower than usual this machine or build is
};

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options), random_(options.seed), board_(*Board::make()) {}

  int go() {
    std::filesystem::create_directories(options_.node.directory);
    for (std::uint32_t i = 0; i < options_.nodes; ++i) start_next_node();
    for (std::uint32_t i = 0; i < next_node_; ++i)
      if (!await(i)) return complain("a node did not come up");
    for (std::uint32_t i = 0; i < options_.clients; ++i) start_next_client();
    disturb();
    board_.phase = Board::Phase::last_round;
    int failed = 0;
    for (auto& client : clients_)
      if (wait(client.process, last_patience() * static_cast<int>(options_.locks) + 5s) != 0)
        ++failed;
    int dirty = 0;
    for (auto& node : nodes_)
      if (node.killed == 0) ::kill(node.pid, SIGTERM);
    for (auto& node : nodes_)
      if (node.killed == 0 && wait(node, scaled(5s)) != 0) ++dirty;
    return report(failed, dirty);
  }

 private:
  std::chrono::milliseconds scaled(std::chrono::milliseconds time) const {
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(static_cast<double>(time.count()) * options_.slack));
  }
  // What the issue promises: served again within two seconds and the lock delay of a crash.
  std::chrono::milliseconds last_patience() const { return scaled(2s) + options_.node.lock_delay; }

  void start_next_node() {
    const auto number = next_node_++;
    const auto name = "n" + std::to_string(number);
    nodes_.push_back(start_node(options_.node, name));
    const auto socket = (options_.node.directory / (name + ".sock")).string();
    std::snprintf(board_.sockets[number], sizeof board_.sockets[number], "%s", socket.c_str());
    board_.nodes = next_node_;
  }
  bool await(std::size_t number) {
    const bool up = comes_up(board_.sockets[number], scaled(10s));
    board_.alive[number] = up;
    return up;
  }
  // Every client process writes to records of its own.
  void start_next_client() {
    if (next_client_ == Board::most_clients) return;
    const ClientOptions options{.number = next_client_++,
                                .seed = random_.below(1'000'000),
                                .locks = options_.locks,
                                .last_patience = last_patience()};
    clients_.push_back({start_client(board_, options), options.number});
  }

  void disturb() {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000));
    while (std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random_.below(120)));
      if (!options_.faults) continue;
      switch (random_.below(5)) {
        case 0:
          pause(clients_[random_.below(clients_.size())].process);
          break;
        case 1:
          pause(live_node());
          break;
        case 2:
          kill_client();
          break;
        default:
          if (random_.below(3) == 0) kill_node();
      }
    }
  }

  Process& live_node() {
    for (;;) {
      auto& node = nodes_[random_.below(nodes_.size())];
      if (node.killed == 0) return node;
    }
  }
  // Shorter than the lock delay, so that a client that sleeps through the death of its node still
  // hears of it before others go on.
  void pause(Process& process) {
    stop(process);
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random_.below(95)));
    resume(process);
    ++pauses_;
  }
  void kill_client() {
    const auto victim = random_.below(clients_.size());
    auto& client = clients_[victim];
    kill(client.process);
    ++killed_clients_;
    // What it held when it was killed, it held at least until then.
    auto& records = board_.clients[client.records];
    for (std::uint32_t i = 0; i < records.count; ++i)
      if (records.holds[i].ended == 0) records.holds[i].ended = client.process.killed;
    clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(victim));
    start_next_client();
  }
  void kill_node() {
    std::size_t alive = 0;
    for (const auto& node : nodes_) alive += node.killed == 0 ? 1U : 0U;
    if (alive < 2 || next_node_ >= 31) return;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (nodes_[i].killed != 0 || random_.below(alive) != 0) continue;
      board_.alive[i] = false;
      kill(nodes_[i]);
      ++killed_nodes_;
      break;
    }
    if (random_.below(4) == 0) return;  // sometimes the cluster stays smaller
    std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(200)));
    start_next_node();
    const auto number = next_node_ - 1;
    if (!await(number)) broken_ = "a new node did not come up";
  }

  int report(int failed, int dirty) {
    std::vector<Hold> holds;
    std::uint64_t timeouts = 0, cancelled = 0, lost = 0, disconnected = 0, errors = 0;
    std::string last_error;
    for (auto& client : board_.clients) {
      const auto count = client.count.load();
      holds.insert(holds.end(), client.holds, client.holds + count);
      timeouts += client.timeouts;
      cancelled += client.cancelled;
      lost += client.lost;
      disconnected += client.disconnected;
      errors += client.errors;
      if (client.last_error[0] != '\0') last_error = client.last_error;
    }
    const auto verdict = judge(std::move(holds));
    if (!options_.quiet)
      fmt::print(
          "{}: {} holds, {} hand-overs, {} timeouts, {} cancelled, {} lost, {} disconnected, {} "
          "errors; {} pauses, {} clients and {} nodes killed; longest wait {:.3f} s\n",
          options_.node.algorithm, verdict.holds, verdict.hand_overs, timeouts, cancelled, lost,
          disconnected, errors, pauses_, killed_clients_, killed_nodes_,
          static_cast<double>(verdict.longest_wait) / 1e9);
    int status = 0;
    for (const auto& violation : verdict.violations) status |= complain(violation);
    if (verdict.hand_overs == 0) status |= complain("no lock ever changed hands");
    if (failed > 0)
      status |= complain(fmt::format("{} clients were not served again: {}", failed, last_error));
    if (errors > 0) status |= complain(fmt::format("{} errors, the last: {}", errors, last_error));
    if (dirty > 0) status |= complain(fmt::format("{} nodes did not end cleanly", dirty));
    if (!broken_.empty()) status |= complain(broken_);
    // A wait may meet a crash, with its delay, and a few pauses.
    const auto limit = std::chrono::nanoseconds(last_patience() + scaled(1s)).count();
    if (verdict.longest_wait > limit)
      status |= complain(
          fmt::format("somebody waited {:.3f} s", static_cast<double>(verdict.longest_wait) / 1e9));
    if (status == 0) std::filesystem::remove_all(options_.node.directory);
    return status;
  }

  int complain(const std::string& what) {
    fmt::print(stderr, "{} (seed {}): {}\n", options_.node.algorithm, options_.seed, what);
    return 1;
  }

  const Options options_;
  Random random_;
  Board& board_;
  struct ClientProcess {
    Process process;
    std::uint32_t records;  // where it writes
  };
  std::vector<Process> nodes_;
  std::vector<ClientProcess> clients_;
  std::uint32_t next_node_ = 0, next_client_ = 0;
  std::uint32_t pauses_ = 0, killed_clients_ = 0, killed_nodes_ = 0;
  std::string broken_;
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app("A real cluster under faults, judged by its clients' records", "turno-torture");
  app.add_option("--binary", options.node.binary, "The turno program")->required();
  app.add_option("--algorithm", options.node.algorithm)->required();
  app.add_option("--dir", options.node.directory, "Where the cluster lives while it is tortured");
  app.add_option("--nodes", options.nodes)->capture_default_str();
  app.add_option("--clients", options.clients)->capture_default_str();
  app.add_option("--locks", options.locks)->capture_default_str();
  app.add_option("--seconds", options.seconds)->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--slack", options.slack, "How many times slower than usual all is");
  app.add_option("--log-level", options.node.log_level)->capture_default_str();
  bool no_faults = false;
  app.add_flag("--no-faults", no_faults);
  CLI11_PARSE(app, argc, argv);
  options.faults = !no_faults;
  if (options.node.directory.empty())
    options.node.directory = std::filesystem::temp_directory_path() /
                             fmt::format("turno-torture-{}-{}", options.node.algorithm, ::getpid());
  return Run(options).go();
}

}  // namespace
}  // namespace turno::torture

int main(int argc, char** argv) { return turno::torture::run(argc, argv); }

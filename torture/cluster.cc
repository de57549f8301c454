#include "cluster.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "speaker.h"

namespace turno::torture {

using namespace std::chrono_literals;

namespace {

constexpr auto time_to_come_up = 10s, time_to_leave = 5s;

std::string name_of(std::uint32_t number) { return "n" + std::to_string(number); }

}  // namespace

Cluster::Cluster(NodeOptions options, Board& board, double slack)
    : options_(std::move(options)), board_(board), slack_(slack) {
  std::filesystem::create_directories(options_.directory);
}

Cluster::~Cluster() {
  for (auto& node : nodes_)
    if (!node.process.ended) torture::kill(node.process);
}

std::int64_t Cluster::scaled(std::chrono::milliseconds time) const {
  return static_cast<std::int64_t>(static_cast<double>(time.count()) * slack_ * 1e6);
}

std::uint32_t Cluster::start() {
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  const auto socket = (options_.directory / (name_of(number) + ".sock")).string();
  std::snprintf(board_.sockets[number], sizeof board_.sockets[number], "%s", socket.c_str());
  const auto process = start_node(options_, name_of(number));
  nodes_.push_back({.process = process, .started = now_ns()});
  board_.nodes = number + 1;
  ++counts_.joins;
  return number;
}

void Cluster::tick() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (!nodes_[i].process.ended) look_at(i);
}

void Cluster::look_at(std::uint32_t number) {
  auto& node = nodes_[number];
  const auto now = now_ns();
  if (node.process.stopped != 0) {
    if (now >= node.process.resume_at) resume(number);
    return;
  }
  if (const auto status = look(node.process)) return ended(number, *status);
  if (node.fate.told_to_leave != never) {
    // A stopped member may be in the way of its leave: that does not count.
    for (const auto& stop : stops_)
      if (stop.to > node.fate.told_to_leave && now < stop.to + scaled(time_to_leave)) return;
    if (now < node.fate.told_to_leave + scaled(time_to_leave)) return;
    complaints_.push_back("node " + std::to_string(number) + " did not leave");
    kill(number);
  } else if (!node.up) {
    node.up = is_up(board_.sockets[number]);
    board_.alive[number] = node.up;
    if (node.up || now < node.started + scaled(time_to_come_up)) return;
    complaints_.push_back("node " + std::to_string(number) + " did not come up" +
                          last_words(number));
    kill(number);
  }
}

void Cluster::ended(std::uint32_t number, int status) {
  auto& node = nodes_[number];
  board_.alive[number] = false;
  const bool asked = node.fate.told_to_leave != never;
  if (asked && status == 0) return;
  node.fate.killed = std::min(node.fate.killed, now_ns());
  complaints_.push_back("node " + std::to_string(number) +
                        (asked ? " did not end cleanly: " : " ended by itself: ") +
                        std::to_string(status) + last_words(number));
}

std::string Cluster::last_words(std::uint32_t number) const {
  std::ifstream log(options_.directory / (name_of(number) + ".log"));
  std::string line, last;
  while (std::getline(log, line)) last = line;
  return last.empty() ? last : " (" + last + ")";
}

bool Cluster::settle() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].process.stopped != 0) resume(i);
  const auto deadline = now_ns() + scaled(time_to_come_up);
  for (;;) {
    tick();
    const bool busy = std::ranges::any_of(nodes_, [](const Node& node) {
      return !node.process.ended && (!node.up || node.fate.told_to_leave != never);
    });
    if (!busy) return true;
    if (now_ns() > deadline) return false;
    std::this_thread::sleep_for(3ms);
  }
}

bool Cluster::meet() {
  const auto deadline = now_ns() + scaled(time_to_come_up);
  const auto size = living().size();
  const auto knows_all = [&](std::uint32_t node) {
    const auto speaker = Speaker::connect(socket(node));
    if (!speaker) return false;
    speaker->say({"MEMBERS"});
    const auto members = speaker->hear(1s);
    return members && members->elements.size() == size;
  };
  while (!std::ranges::all_of(living(), knows_all)) {
    if (now_ns() > deadline) return false;
    std::this_thread::sleep_for(3ms);
  }
  return true;
}

void Cluster::end() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    auto& node = nodes_[i];
    if (node.process.ended || node.fate.told_to_leave != never) continue;
    node.fate.told_to_leave = now_ns();
    ::kill(node.process.pid, SIGTERM);
  }
  settle();
}

std::vector<std::uint32_t> Cluster::living() const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (board_.alive[i]) all.push_back(i);
  return all;
}

void Cluster::kill(std::uint32_t number) {
  auto& node = nodes_[number];
  board_.alive[number] = false;
  if (node.process.stopped != 0) stops_.push_back({node.process.stopped, now_ns()});
  node.process.stopped = 0;
  node.fate.killed = now_ns();
  torture::kill(node.process);
  ++counts_.kills;
}

void Cluster::tell_to_leave(std::uint32_t number) {
  auto& node = nodes_[number];
  board_.alive[number] = false;
  if (node.process.stopped != 0) resume(number);
  node.fate.told_to_leave = now_ns();
  ::kill(node.process.pid, SIGTERM);
  ++counts_.leaves;
}

void Cluster::pause(std::uint32_t number, std::chrono::milliseconds time) {
  auto& node = nodes_[number];
  if (node.process.stopped != 0 || node.process.ended) return;
  stop(node.process, time);
  ++counts_.pauses;
}

void Cluster::resume(std::uint32_t number) {
  auto& process = nodes_[number].process;
  if (process.stopped != 0) stops_.push_back(torture::resume(process));
}

void Cluster::cut(std::uint32_t number, Random& random) {
  const auto of = random.below(2) == 0 ? 1U : 3U;
  counts_.cuts += static_cast<std::uint32_t>(
      cut_connections(nodes_[number].process, of, random.below(1'000'000)));
}

std::vector<Stop> Cluster::stops() const {
  auto all = stops_;
  for (const auto& node : nodes_)
    if (node.process.stopped != 0) all.push_back({node.process.stopped, now_ns()});
  return all;
}

std::vector<Fate> Cluster::fates() const {
  std::vector<Fate> all;
  for (const auto& node : nodes_) all.push_back(node.fate);
  return all;
}

}  // namespace turno::torture

// The nodes and clients of a run: real processes that are started, stopped, continued and killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "client.h"
#include "records.h"

namespace turno::torture {

struct Process {
  pid_t pid = 0;
  bool ended = false;          // and waited for
  std::int64_t stopped = 0;    // since then; 0: it runs
  std::int64_t resume_at = 0;  // if it is stopped
};

void stop(Process& process, std::chrono::milliseconds time);
// What was done.
Stop resume(Process& process);
// With SIGKILL; waits for its end.
void kill(Process& process);
// The exit status, or 128 and the signal. Nothing: it goes on.
std::optional<int> look(Process& process);
// The same. Kills it if it takes longer.
int wait(Process& process, std::chrono::milliseconds patience);

// The way from one node to another, by name.
struct Line {
  std::string from, to;
  std::chrono::milliseconds latency{0}, spacing{0};  // of frames
};

struct NodeOptions {
  std::string binary;
  std::filesystem::path directory;
  std::string algorithm;
  std::string allocator = "central-allocator";  // of reservations
  std::chrono::milliseconds lock_delay{500};
  std::chrono::milliseconds idle{200};
  std::string log_level = "warning";
  // These are of torture-node alone.
  std::string without;  // a rule, for a canary; empty: none
  // Wrong versions: of locks and elections, and so on.
  std::string departure, semaphore_departure, room_departure, store_departure;
  bool news_in_order = true;  // of leaders
  std::vector<Line> lines;    // that are not as fast as they can be
  bool eager = true;
  std::string deadlock, missing_rule;  // the policy; a rule of finding deadlocks that is left out
};

// Its output goes to NAME.log in the directory.
Process start_node(const NodeOptions& options, const std::string& name);
// Whether it takes clients now.
bool is_up(const std::filesystem::path& socket);
Process start_client(Board& board, const ClientOptions& options);

// Cuts the TCP connections of a process that this one has started: all, or each with one chance in
// `of`. Both sides see a reset; what was on its way is lost. How many it were.
std::size_t cut_connections(const Process& process, std::uint32_t of, std::uint64_t seed);

}  // namespace turno::torture

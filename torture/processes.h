// The nodes and clients of a run: real processes that are started, stopped, continued and killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "client.h"
#include "records.h"

namespace turno::torture {

struct Process {
  pid_t pid = 0;
  bool stopped = false;
  std::int64_t killed = 0;  // if it was: when it surely still lived
};

void stop(Process& process);
void resume(Process& process);
// With SIGKILL; waits for its end.
void kill(Process& process);
// The exit status, or 128 and the signal. Kills it if it takes longer.
int wait(Process& process, std::chrono::milliseconds patience);

struct NodeOptions {
  std::string binary;
  std::filesystem::path directory;
  std::string algorithm;
  std::chrono::milliseconds lock_delay{500};
  std::chrono::milliseconds idle{200};
  std::string log_level = "warning";
};

// Its output goes to NAME.log in the directory.
Process start_node(const NodeOptions& options, const std::string& name);
// Whether it takes clients, within this time.
bool comes_up(const std::filesystem::path& socket, std::chrono::milliseconds patience);
Process start_client(Board& board, const ClientOptions& options);

}  // namespace turno::torture

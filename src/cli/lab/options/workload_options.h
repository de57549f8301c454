// Options that describe what users do and how the network delays, shared by the commands.
#pragma once

#include <string>
#include <string_view>

#include "catalogue/system.h"
#include "check/options.h"
#include "cli/frame/command.h"
#include "sim/options.h"

namespace turno::cli {

// Sets a time as its option says; an option that was not given is empty. Throws UsageError.
inline void set_time(sim::Time& time, const std::string& option, const std::string& text) {
  if (text.empty()) return;
  time = sim::parse_duration(text);
  if (time <= 0) throw UsageError(option + " is a time above 0");
}

struct Workload {
  std::string arrivals = "poisson:0.5";
  std::string busy = "lose";
  std::string hold = "10ms";
  std::string delay = "uniform:0ms:100ms";
  std::uint64_t entries = 100'000;
  std::string requesters, first, until, interval;

  void add_to(Command command) {
    command
        .add_option(
            "--arrivals", arrivals,
            "poisson:R (R requests a second and node), closed:THINK or, for rooms, total:R (R a "
            "second, each a new process)")
        .capture_default_str();
    command
        .add_option("--busy", busy,
                    "An arrival at a node that waits or is inside: lose it, or queue it there")
        .capture_default_str();
    command.add_option("--hold", hold, "Time inside").capture_default_str();
    command.add_option("--delay", delay, "Time of a message on its way").capture_default_str();
    command.add_option("--entries", entries, "Entries to simulate").capture_default_str();
  }
  // What only one run at a time needs.
  void add_details_to(Command command) {
    command.add_option("--requesters", requesters, "Who asks, as in 0-2,4 (default: all)");
    command.add_option("--first", first,
                       "When everybody asks for the first time (default: as the others)");
    command.add_option("--until", until, "End the run at this time, if not earlier");
    command.add_option("--interval", interval, "Count the entries by intervals of this length");
  }

  // Throws UsageError or std::invalid_argument.
  [[nodiscard]] sim::Options options(std::uint64_t nodes) const {
    sim::Options options;
    options.arrivals = sim::parse_arrivals(arrivals);
    options.hold = sim::parse_distribution(hold);
    options.delay = sim::parse_distribution(delay);
    options.entries = entries;
    if (entries < 1) throw UsageError("--entries is 1 or more");
    if (busy == "queue") {
      options.busy = sim::Busy::queue;
    } else if (busy != "lose") {
      throw UsageError("--busy is lose or queue, not '" + busy + "'");
    }
    if (options.busy == sim::Busy::queue && options.arrivals.kind == sim::Arrivals::Kind::closed)
      throw UsageError("--busy queue is for poisson arrivals; a closed user never asks twice");
    if (!requesters.empty())
      for (auto node : parse_nodes(requesters, nodes)) options.requesters.insert(node);
    if (!first.empty()) options.first = sim::parse_distribution(first);
    set_time(options.until, "--until", until);
    set_time(options.interval, "--interval", interval);
    return options;
  }
};

inline check::Channels parse_channels(std::string_view text, const Info& info) {
  if (text.empty()) return info.fifo ? check::Channels::fifo : check::Channels::unordered;
  if (text == "fifo") return check::Channels::fifo;
  if (text == "unordered") return check::Channels::unordered;
  throw UsageError("channels are fifo or unordered, not '" + std::string(text) + "'");
}

}  // namespace turno::cli

// Nodes of a cluster on this machine, each a process of this same program.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/cluster/node_options.h"
#include "cli/process/offspring.h"
#include "cluster/view.h"
#include "turno/error.h"

namespace turno::cli {

class LocalCluster {
 public:
  struct Node {
    std::string name;
    pid_t pid = 0;
    std::filesystem::path log;
    std::optional<int> status;  // when it has ended: what waitpid() tells
  };
  static constexpr std::chrono::seconds time_to_start{10}, time_to_stop{15};

  // Nothing is started yet. Throws UsageError for options that make no sense.
  LocalCluster(NodeOptions options, const Interruption& interruption);
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;
  ~LocalCluster() { stop(); }

  // Starts so many nodes, one after another, so that they are members in the order of their names,
  // and waits until all are ready. They get the first names that no running node has, and the ports
  // that nodes of these names had before, if they are free. After an error, those that were started
  // are stopped; it is `cancelled` after a signal.
  tl::expected<void, Error> start(std::size_t count, bool dies_with_parent);

  [[nodiscard]] const ClusterPlace& place() const { return place_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }  // those of start()
  [[nodiscard]] const cluster::View& view() const { return view_; }        // after start()

  // Those that have ended since the last call.
  std::vector<Node> newly_ended();
  [[nodiscard]] bool all_ended() const;

  // Asks all to leave, waits, kills those that do not. A signal cuts the waiting short.
  void stop();
  void let_go() { nodes_.clear(); }  // they go on without us

 private:
  tl::expected<void, Error> prepare(std::size_t count);
  [[nodiscard]] tl::expected<void, Error> check_settings() const;
  [[nodiscard]] std::vector<std::string> free_names(std::size_t count) const;
  [[nodiscard]] std::filesystem::path log_of(const std::string& name) const {
    return directory_ / "logs" / (name + ".log");
  }
  tl::expected<void, Error> start_node(const std::string& name, bool dies_with_parent);
  tl::expected<void, Error> wait_for_member(const Node& node, std::uintmax_t log_begins);
  tl::expected<void, Error> wait_until_ready();
  [[nodiscard]] bool all_ready() const;
  [[nodiscard]] std::vector<std::string> arguments_for(const std::string& name) const;

  const NodeOptions options_;
  const Interruption& interruption_;
  const ClusterPlace place_;
  const std::filesystem::path directory_;  // of the registry and the logs
  std::vector<Node> nodes_;
  cluster::View view_;
};

}  // namespace turno::cli

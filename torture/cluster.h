// The nodes of a run: who lives, what was done to whom, and who ended by itself.
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "judge.h"
#include "processes.h"

namespace turno::torture {

class Cluster {
 public:
  Cluster(NodeOptions options, Board& board, double slack);
  // Kills whoever lives.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Its number. Clients may use it as soon as it is up.
  std::uint32_t start();
  // Does what is due: continues the stopped, notices who came up and who ended.
  void tick();
  // All are continued, have come up or have left. False: it takes too long.
  bool settle();
  // All who live know each other: until then a client knows no other node to go to when its own
  // dies. False: it takes too long.
  bool meet();
  // Everybody is told to leave, and does.
  void end();

  [[nodiscard]] bool full() const { return board_.nodes == Board::most_nodes; }
  [[nodiscard]] std::vector<std::uint32_t> living() const;  // that clients may use
  // Of its process; 0: it was not started, or has ended.
  [[nodiscard]] pid_t pid(std::uint32_t node) const {
    return node < nodes_.size() && !nodes_[node].process.ended ? nodes_[node].process.pid : 0;
  }
  [[nodiscard]] std::string socket(std::uint32_t node) const { return board_.sockets[node]; }
  void kill(std::uint32_t node);
  void tell_to_leave(std::uint32_t node);
  // Nothing if it is stopped already.
  void pause(std::uint32_t node, std::chrono::milliseconds time);
  void resume(std::uint32_t node);
  // Some of its connections to other nodes, or all.
  void cut(std::uint32_t node, Random& random);

  [[nodiscard]] std::vector<Fate> fates() const;
  [[nodiscard]] std::vector<Stop> stops() const;
  // What nodes did that they should not: they ended by themselves, or did not come up.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

  struct Counts {
    std::uint32_t joins = 0, kills = 0, leaves = 0, pauses = 0, cuts = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Node {
    Process process;
    Fate fate;
    std::int64_t started = 0;
    bool up = false;
  };

  [[nodiscard]] std::int64_t scaled(std::chrono::milliseconds time) const;
  void look_at(std::uint32_t number);
  void ended(std::uint32_t number, int status);
  [[nodiscard]] std::string last_words(std::uint32_t number) const;

  const NodeOptions options_;
  Board& board_;
  const double slack_;
  std::vector<Node> nodes_;
  std::vector<Stop> stops_;
  std::vector<std::string> complaints_;
  Counts counts_;
};

}  // namespace turno::torture

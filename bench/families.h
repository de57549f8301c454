// What bench_primitives measures, a family of comparisons in a file each.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "etcd.h"
#include "load.h"
#include "measure.h"
#include "postgres.h"
#include "servers.h"

namespace turno::bench {

// The servers that all families share, each started when it is first asked for.
class Place {
 public:
  Place(std::string turno, std::chrono::milliseconds time, int rounds)
      : turno_(std::move(turno)), time_(time), rounds_(rounds) {}

  [[nodiscard]] const TurnoCluster& one() { return started(one_, turno_, path() / "one", 1U); }
  [[nodiscard]] const TurnoCluster& five() { return started(five_, turno_, path() / "five", 5U); }
  [[nodiscard]] const Redis& redis() { return started(redis_, path()); }
  [[nodiscard]] const Postgres& postgres() { return started(postgres_, path() / "postgres"); }
  [[nodiscard]] const Etcd& etcd() { return started(etcd_, path() / "etcd"); }

  [[nodiscard]] const std::string& turno() const { return turno_; }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }
  // The beginning of names that nobody has used: where sessions are unknown, who was cut off by the
  // end of a measurement still holds what it had.
  [[nodiscard]] std::string fresh() { return "run-" + std::to_string(++runs_) + "-"; }
  // Of each measure.
  [[nodiscard]] std::chrono::milliseconds time() const { return time_; }
  [[nodiscard]] int rounds() const { return rounds_; }

 private:
  template <class Server, class... Arguments>
  static const Server& started(std::unique_ptr<Server>& server, const Arguments&... arguments) {
    if (server == nullptr) server = std::make_unique<Server>(arguments...);
    return *server;
  }

  const std::string turno_;
  const std::chrono::milliseconds time_;
  const int rounds_;
  int runs_ = 0;
  const TemporaryDirectory directory_{"turno-primitives"};
  std::unique_ptr<TurnoCluster> one_, five_;
  std::unique_ptr<Redis> redis_;
  std::unique_ptr<Postgres> postgres_;
  std::unique_ptr<Etcd> etcd_;
};

// As many connections as all of them measure with.
inline constexpr int connections = 50;
// `cycle(i)` for the i-th connection.
template <class Make>
std::vector<Cycle> cycles_of(int count, Make cycle) {
  std::vector<Cycle> cycles;
  cycles.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cycles.push_back(cycle(i));
  return cycles;
}
// How long a client of a server that lets nobody wait pauses before it asks again.
inline constexpr std::chrono::milliseconds at_once{0}, after_a_pause{1};

std::vector<Group> semaphores(Place& place);
std::vector<Group> rooms(Place& place);
std::vector<Group> reservations(Place& place);
std::vector<Group> elections(Place& place);
// These measure and print by themselves: the one has clusters of many kinds, the other kills.
void permits_beside_a_lock(Place& place);
void dead_member(Place& place);

}  // namespace turno::bench

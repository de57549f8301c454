// A directed run: one lock with its home at node 0, one client at each node, perhaps a second one,
// and a known order of events. Lines between nodes may be slow, so that what is to come late does.
//
// Nodes are asked for their members, to know when a change of the view has come to them; the
// verdict is that of the clients' records alone, as in every torture.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster.h"
#include "observers.h"
#include "run.h"
#include "speaker.h"

namespace turno::torture {

struct Scenery {
  std::uint32_t nodes = 3;
  std::vector<Line> lines;
  std::vector<std::uint32_t> second_clients{};  // at these nodes; numbered after all first ones
  std::chrono::milliseconds idle{60'000};       // nothing that is stuck is mended by forgetting it
  std::chrono::milliseconds lock_delay{200};
  // Instead of a lock: a semaphore of one permit; a room that each client enters with a group of
  // its own; an election with an observer at the last node.
  enum class Kind : std::uint8_t { lock, permit, room, election } kind = Kind::lock;
  bool eager = true;  // members ask ahead for users that come back
  // How often others may go first, and how long those who wait may take when nobody is in their
  // way, beside what the lines take.
  std::uint64_t most_overtakings = std::numeric_limits<std::uint64_t>::max();
  std::chrono::milliseconds patience{1000};
};

[[nodiscard]] Line line(std::uint32_t from, std::uint32_t to, std::chrono::milliseconds latency,
                        std::chrono::milliseconds spacing = {});

// It did not go as directed, which says nothing about the cluster: a busy machine was too slow.
struct Misplayed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Scene {
 public:
  // The nodes are up and know each other. Throws Misplayed, as all that follows.
  Scene(const Options& options, Scenery scenery);

  // The first client of a node has the node's number.
  void ask(std::uint32_t client);
  void attempt(std::uint32_t client);  // it does not wait
  void give_up(std::uint32_t client);
  void leave(std::uint32_t client);
  void wait_for(std::uint32_t client);  // until it is inside
  void observe();                       // who leads, from now on at all nodes
  [[nodiscard]] bool inside(std::uint32_t client) const { return parts_[client].hold.has_value(); }
  [[nodiscard]] bool waits(std::uint32_t client) const { return parts_[client].asked != 0; }

  // The node leaves the cluster, or dies, and all others know it.
  void remove(std::uint32_t node);
  void kill(std::uint32_t node);

  void pass(std::chrono::milliseconds time);
  // What was to happen within this time has happened.
  void in_time(std::int64_t since_ns, std::chrono::milliseconds time) const;

  // All leave, and whoever waits gets in, if the cluster is right.
  void finish();
  Report conclude();

 private:
  struct Part {
    std::uint32_t node;
    std::unique_ptr<Speaker> speaker;  // none: its node is gone
    std::int64_t asked = 0;            // 0: it does not wait
    std::int64_t ticket = 0;
    std::optional<std::size_t> hold;
  };

  template <class Condition>
  bool until(std::chrono::milliseconds patience, Condition condition);
  void admit_client(std::uint32_t node);
  void lose_clients(std::uint32_t node);
  void pump();
  void note(std::uint32_t client, const wire::Reply& push);
  wire::Reply command(std::uint32_t client, std::initializer_list<std::string_view> words);
  void lock(std::uint32_t client, std::initializer_list<std::string_view> words);
  [[nodiscard]] std::vector<std::uint64_t> members(std::uint32_t client);  // as its node knows them
  void wait_for_view();
  [[nodiscard]] bool anybody_waits() const;

  const Options options_;
  const Scenery scenery_;
  const decltype(Board::make()) board_ = Board::make();
  Cluster cluster_;
  std::vector<Part> parts_;  // by client
  std::string name_;         // of the lock
  std::optional<Observers> observers_;
  std::vector<Hold> holds_;
  std::int64_t free_since_ = 0;  // nobody is in the way of those who wait
};

}  // namespace turno::torture

// One algorithm, for all the locks of a node: what is left of it when its type is forgotten. The
// only place where the node meets the templates.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/lock.h"
#include "core/protocol.h"
#include "net/link.h"
#include "node/entry.h"
#include "wire/buffer.h"

namespace turno::node {

// The frames that nodes exchange, after those of the links.
enum class FrameKind : std::uint8_t {
  // About one lock; the order of cluster::LockMessage.
  protocol = static_cast<std::uint8_t>(net::LinkKind::first_free),
  report,
  open,
  query,
  opened,
  gone,
  retire,
  // About all.
  reported,  // the sender has no more to report to this home
  ask,       // who holds, who waits
  answer,
};

// One view, as the engines need it.
struct Stage {
  std::uint32_t epoch = 0;
  NodeId self;
  std::vector<Setup> setups;                      // by home
  std::vector<std::shared_ptr<net::Link>> links;  // by member; none to itself
  cluster::Book book;

  [[nodiscard]] std::size_t size() const { return setups.size(); }
  [[nodiscard]] cluster::Place place(const Entry& entry) {
    return {&setups[entry.home.index()], self, entry.home, &book};
  }
};

// What a frame says about a lock.
struct Note {
  FrameKind kind = FrameKind::protocol;
  cluster::Instance instance = 0;
  NodeId holder;
  std::uint64_t count = 0;
  bool holds = false, free = false;
  std::string_view inner;  // the message of the algorithm, not decoded
};

class Engine {
 public:
  using Granted = std::optional<Fence>;

  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  [[nodiscard]] virtual const Info& info() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Entry> make_entry() const = 0;

  // The steps of cluster::Lock. Each performs its sends and says whether the node's turn began.
  virtual Granted request(Entry& entry, Stage& stage) = 0;
  virtual Granted release(Entry& entry, Stage& stage) = 0;
  // False: the frame makes no sense.
  virtual bool receive(Entry& entry, Stage& stage, NodeId from, const Note& note,
                       Granted& granted) = 0;
  virtual Granted adopt(Entry& entry, Stage& stage) = 0;
  virtual Granted retire(Entry& entry, Stage& stage) = 0;
  virtual Granted conclude(Entry& entry, Stage& stage) = 0;
  virtual void begin_home(Entry& entry, const NodeSet& missing) = 0;
  virtual void end_home(Entry& entry) = 0;
  // Fences of this turn reached so far.
  virtual void raise(Entry& entry, Fence fence) = 0;

  [[nodiscard]] virtual cluster::Instance instance(const Entry& entry) const = 0;
  [[nodiscard]] virtual bool at_home(const Entry& entry) const = 0;
  [[nodiscard]] virtual bool retirable(const Entry& entry) const = 0;
  [[nodiscard]] virtual bool idle(const Entry& entry) const = 0;

  // Messages of the algorithm sent so far, by kind.
  struct Count {
    std::string_view kind;
    std::uint64_t count;
  };
  [[nodiscard]] virtual std::vector<Count> messages() const = 0;
  // Messages that open, recover and forget locks: the same for every algorithm.
  [[nodiscard]] virtual std::vector<Count> control() const = 0;
  [[nodiscard]] std::uint64_t control_messages() const {
    std::uint64_t sum = 0;
    for (const auto& each : control()) sum += each.count;
    return sum;
  }
};

// What a kind of control message is called beside those of the algorithms.
[[nodiscard]] inline std::string control_kind(std::string_view kind) {
  return "control-" + std::string(kind);
}

// Nothing: there is no such lock algorithm.
std::unique_ptr<Engine> make_engine(std::string_view algorithm);
// The names of all, as in protocols/list.h.
std::vector<std::string_view> engine_names();

// The number of an instance for the whole cluster: its home is in it.
inline constexpr std::uint64_t most_members = 128;
[[nodiscard]] inline std::uint64_t global_instance(NodeId home, cluster::Instance instance) {
  return instance * most_members + home.index();
}
[[nodiscard]] inline NodeId home_of_instance(std::uint64_t global) {
  return NodeId{static_cast<std::size_t>(global % most_members)};
}
[[nodiscard]] inline cluster::Instance instance_at_home(std::uint64_t global) {
  return global / most_members;
}

}  // namespace turno::node

// What a port may know and ask of the node that it serves. In the loop's thread, but for the locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/view.h"
#include "net/loop.h"
#include "net/peers.h"
#include "table/bequests.h"
#include "table/lock_table.h"

namespace turno::port {

using table::Clock;
using table::LockTable;
using table::Owner;
using table::Sighting;
using table::Statistics;

// What a member said about who holds and who waits.
struct NodeSighting {
  std::string node;
  Sighting sighting;
};

class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  [[nodiscard]] virtual net::Loop& loop() = 0;
  [[nodiscard]] virtual LockTable& locks() = 0;
  [[nodiscard]] virtual std::uint64_t next_session() = 0;

  [[nodiscard]] virtual const cluster::Member& self() const = 0;
  [[nodiscard]] virtual const cluster::View& view() const = 0;
  [[nodiscard]] virtual std::uint64_t view_changes() const = 0;
  [[nodiscard]] virtual const net::Peers& peers() const = 0;
  [[nodiscard]] virtual Clock::time_point started() const = 0;
  // The end of a lock delay is waited for.
  [[nodiscard]] virtual bool delayed() const = 0;

  // What the cluster's first member chose.
  [[nodiscard]] virtual const std::string& algorithm() const = 0;
  [[nodiscard]] virtual std::chrono::milliseconds lock_delay() const = 0;
  [[nodiscard]] virtual std::chrono::milliseconds idle() const = 0;

  // This node leaves: it gives nothing out any more.
  [[nodiscard]] virtual bool draining() const = 0;
  virtual void drain(std::string_view reason) = 0;
  // Tells a member what a session has that moves there. `refusal` is empty if it was taken, and
  // else says why it surely was not.
  using Taken = std::function<void(std::string_view refusal)>;
  virtual void bequeath(std::string_view member, table::Will will, Taken taken) = 0;

  // Asks all members who holds and who waits (for all locks if the name is empty). `complete` is
  // false if one did not answer in time.
  using Answer = std::function<void(std::vector<NodeSighting>, bool complete)>;
  virtual void ask(std::string_view name, Answer answer) = 0;
};

}  // namespace turno::port

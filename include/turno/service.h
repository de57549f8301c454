// Where locks come from: an embedded Node or a remote Client. A program makes one and passes it on
// to its mutexes; the calls below are for Mutex and Grant, and for those who write a service.
//
// Thread safety: every call may be made from any thread at any time. A service outlives its
// mutexes and grants.
//
// A service is one session: it holds a lock at most once. Its threads wait for each other in order
// of arrival, as other sessions do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "turno/error.h"

namespace turno {

class Grant;

// So many instances of one type of resource.
struct Claim {
  std::string type;
  std::uint32_t count = 1;
  std::uint32_t of = 0;  // how many there are. 0: as others have said
};

// One instance of a type of resource that is held.
struct Resource {
  std::string type;
  std::uint32_t number = 0;  // from 0, within its type
  // Larger than that of every earlier grant of this instance.
  std::uint64_t fence = 0;

  bool operator==(const Resource&) const = default;
};

struct Request {
  std::optional<std::chrono::milliseconds> timeout = {};  // none: for ever; 0: try once
  // The lock is taken back when it was not renewed for so long (none: when the session ends).
  std::optional<std::chrono::milliseconds> ttl = {};
  // Of a semaphore: how many permits are wanted, and how many it has. 0: as others have said.
  std::uint32_t permits = 1;
  std::uint32_t of = 0;
  // Of a room: with which group to enter. `of` says how many of that may be inside, 0: as others
  // have said, or else as many as like.
  std::string group = {};
  // Of a reservation: what is wanted, all at once.
  std::vector<Claim> claims = {};
  // Of an election: what the leader says of itself, at most 4096 bytes.
  std::string value = {};
};

// Who leads an election.
struct Leader {
  std::uint64_t term = 0;
  std::string value;   // the leader's own
  std::string node;    // where it is
  std::string client;  // its name, if it has one

  bool operator==(const Leader&) const = default;
};

// Lasts until it is destroyed.
class Observation {
 public:
  Observation() = default;
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  virtual ~Observation() = default;
};

class Service {
 public:
  // What a service knows things by. Opaque: only the service that gave it out can read it.
  using Lock = void*;  // a name, opened: kept by a mutex to save looking the name up each time
  using Hold = void*;  // a grant: kept by a Grant. Valid until released. Need not be unique: the
                       // fence that goes with it tells one grant of a lock from another

  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // Opening takes nothing and talks to nobody. Fails with `invalid` for an impossible name.
  [[nodiscard]] virtual tl::expected<Lock, Error> open(std::string_view name) = 0;
  // The same for a semaphore, of which a service may have several grants at once.
  [[nodiscard]] virtual tl::expected<Lock, Error> open_semaphore(std::string_view name);
  // The same to lead an election.
  [[nodiscard]] virtual tl::expected<Lock, Error> open_election(std::string_view name);
  // The same to enter a room, in which a service may be several times.
  [[nodiscard]] virtual tl::expected<Lock, Error> open_room(std::string_view name);
  // The same to reserve resources of a store, of which a service may have several grants at once.
  [[nodiscard]] virtual tl::expected<Lock, Error> open_store(std::string_view name);
  // For Election, which says what is promised.
  [[nodiscard]] virtual tl::expected<std::optional<Leader>, Error> leader(
      std::string_view election);
  using LeaderChanged = std::function<void(const std::optional<Leader>&)>;
  [[nodiscard]] virtual tl::expected<std::unique_ptr<Observation>, Error> observe(
      std::string_view election, LeaderChanged changed);
  // The lock may still be held: a grant does not need what it came from.
  virtual void close(Lock lock) noexcept = 0;

  // Blocks until granted, or until the time is over or `stop` is requested: then nothing is left
  // behind, neither a grant nor a place in the queue.
  [[nodiscard]] virtual tl::expected<Grant, Error> acquire(Lock lock, const Request& request,
                                                           std::stop_token stop) = 0;
  [[nodiscard]] tl::expected<Grant, Error> acquire(std::string_view name,
                                                   const Request& request = {},
                                                   std::stop_token stop = {});

  // REQUIRES for all of these: `hold` came with `fence` from acquire() and was not yet released.

  // Does not block. If the lock was lost, it frees the hold and says that its user has stopped.
  virtual void release(Hold hold, std::uint64_t fence) noexcept = 0;
  // The time to live starts again and is now `ttl`. Fails with `lost` if it was too late.
  [[nodiscard]] virtual tl::expected<void, Error> renew(Hold hold, std::uint64_t fence,
                                                        std::chrono::milliseconds ttl) = 0;
  // The numbers of a semaphore's permits; a lock has none.
  [[nodiscard]] virtual std::vector<std::uint32_t> permits(Hold) const { return {}; }
  // What a reservation has; a lock has none.
  [[nodiscard]] virtual std::vector<Resource> resources(Hold) const { return {}; }
  // The name of the lock; the view is valid until the release.
  [[nodiscard]] virtual std::string_view name(Hold hold) const noexcept = 0;
  [[nodiscard]] virtual bool lost(Hold hold, std::uint64_t fence) const noexcept = 0;
  // Requested when the lock is lost (at once, if it already is). Never requested by a release.
  [[nodiscard]] virtual std::stop_token lost_token(Hold hold, std::uint64_t fence) = 0;

 private:
  static Error no_elections(std::string_view name);
};

inline tl::expected<Service::Lock, Error> Service::open_semaphore(std::string_view name) {
  return tl::unexpected(Error{Error::Code::invalid, "semaphore '" + std::string(name) +
                                                        "': this service offers locks only"});
}
inline tl::expected<Service::Lock, Error> Service::open_room(std::string_view name) {
  return tl::unexpected(Error{Error::Code::invalid,
                              "room '" + std::string(name) + "': this service offers no rooms"});
}
inline tl::expected<Service::Lock, Error> Service::open_store(std::string_view name) {
  return tl::unexpected(Error{Error::Code::invalid,
                              "store '" + std::string(name) + "': this service offers no stores"});
}
inline tl::expected<Service::Lock, Error> Service::open_election(std::string_view name) {
  return tl::unexpected(no_elections(name));
}
inline tl::expected<std::optional<Leader>, Error> Service::leader(std::string_view election) {
  return tl::unexpected(no_elections(election));
}
inline tl::expected<std::unique_ptr<Observation>, Error> Service::observe(std::string_view election,
                                                                          LeaderChanged) {
  return tl::unexpected(no_elections(election));
}
inline Error Service::no_elections(std::string_view name) {
  return {Error::Code::invalid,
          "election '" + std::string(name) + "': this service offers no elections"};
}

}  // namespace turno

#include "turno/grant.h"  // what acquire() returns

// Rooms of the cluster: group locks. Users of one group may be inside together, of different groups
// never. A shared mutex is a room whose writers are a group of which one may be inside.
//
// lock(), lock_shared() and their likes throw std::system_error if the cluster cannot be reached.
// The explicit face gives a Grant, which has a fence (the same for all who are inside together),
// and tells when the visit is lost.
//
// Thread safety: every call from any thread. Threads do not own what they locked: any of them may
// unlock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

class Room {
 public:
  Room(Service& service, std::string name) : service_(service), name_(std::move(name)) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // With `request.group`; `request.of` says how many of it may be inside (0: as others have said,
  // or as many as like).
  [[nodiscard]] tl::expected<Grant, Error> acquire(const Request& request,
                                                   std::stop_token stop = {}) {
    auto room = service_.open_room(name_);
    if (!room) return tl::unexpected(std::move(room.error()));
    auto grant = service_.acquire(*room, request, std::move(stop));
    service_.close(*room);
    return grant;
  }
  [[nodiscard]] tl::expected<Grant, Error> enter(std::string group) {
    Request request;
    request.group = std::move(group);
    return acquire(request);
  }

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Service& service_;
  const std::string name_;
};

// A readers-writers lock: SharedLockable and Lockable, for std::shared_lock and std::unique_lock.
// The readers are the group "read" of its room, the writers the group "write" of capacity 1.
class SharedMutex {
 public:
  SharedMutex(Service& service, std::string name) : room_(service, std::move(name)) {}
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  [[nodiscard]] static Request reading(Request request = {}) {
    request.group = "read";
    return request;
  }
  [[nodiscard]] static Request writing(Request request = {}) {
    request.group = "write";
    request.of = 1;
    return request;
  }

  void lock() { take(writing(), writers_); }
  [[nodiscard]] bool try_lock() { return try_lock_for(std::chrono::milliseconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    return try_take(writing(), duration, writers_);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_for(time - Clock::now());
  }
  void unlock() { drop(writers_); }

  void lock_shared() { take(reading(), readers_); }
  [[nodiscard]] bool try_lock_shared() { return try_lock_shared_for(std::chrono::milliseconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration) {
    return try_take(reading(), duration, readers_);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_shared_for(time - Clock::now());
  }
  void unlock_shared() { drop(readers_); }

  // The explicit face: a Grant to read or to write with.
  [[nodiscard]] tl::expected<Grant, Error> acquire_shared(const Request& request = {},
                                                          std::stop_token stop = {}) {
    return room_.acquire(reading(request), std::move(stop));
  }
  [[nodiscard]] tl::expected<Grant, Error> acquire(const Request& request = {},
                                                   std::stop_token stop = {}) {
    return room_.acquire(writing(request), std::move(stop));
  }

  [[nodiscard]] const std::string& name() const { return room_.name(); }

 private:
  using Grants = std::vector<Grant>;

  template <class Rep, class Period>
  bool try_take(Request request, const std::chrono::duration<Rep, Period>& duration, Grants& to) {
    using std::chrono::milliseconds;
    request.timeout = std::max(std::chrono::ceil<milliseconds>(duration), milliseconds(0));
    return take(request, to);
  }
  bool take(const Request& request, Grants& to) {
    auto grant = room_.acquire(request);
    if (!grant && grant.error().code == Error::Code::timeout) return false;
    if (!grant) throw std::system_error(to_error_code(grant.error().code), grant.error().message);
    const std::scoped_lock guard(guard_);
    to.push_back(std::move(*grant));
    return true;
  }
  // Does not block; what was not locked is not unlocked.
  void drop(Grants& from) {
    Grant grant;
    const std::scoped_lock guard(guard_);
    if (from.empty()) return;
    grant = std::move(from.back());
    from.pop_back();
  }

  Room room_;
  std::mutex guard_;
  Grants readers_, writers_;
};

}  // namespace turno

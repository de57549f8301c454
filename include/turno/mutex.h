// A named lock for std::unique_lock, std::scoped_lock and friends: TimedLockable.
//
// Thread safety: as std::mutex. Whoever locked it unlocks it, in the same thread. Mutexes of the
// same name, wherever they are, are the same lock.
//
// A lock can be lost while it is held (see Grant::lost). fence() and lost_token() tell about the
// current hold; acquire() gives more control.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tl/expected.hpp>
#include <utility>

#include "turno/error.h"
#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

class Mutex {
 public:
  // Throws std::system_error if there can be no lock of that name.
  Mutex(Service& service, std::string name) : service_(service), name_(std::move(name)) {
    auto lock = service_.open(name_);
    if (!lock) fail(lock.error());
    lock_ = *lock;
  }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() {
    held_.release();
    service_.close(lock_);
  }

  // Throws std::system_error with the reason if there is no hope.
  void lock() {
    if (auto grant = take({}); !grant) fail(grant.error());
  }
  // False if the lock is not free. Throws std::system_error as lock() does for everything else.
  [[nodiscard]] bool try_lock() { return try_lock_for(std::chrono::milliseconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(duration);
    auto grant = take({.timeout = std::max(timeout, std::chrono::milliseconds(0))});
    if (grant) return true;
    if (grant.error().code == Error::Code::timeout) return false;
    fail(grant.error());
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_for(time - Clock::now());
  }

  // Does not block.
  void unlock() {
    Grant grant;
    {
      // If this thread lost the lock, another may already have taken it: that one is left alone.
      const std::scoped_lock guard(guard_);
      if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
      owner_.store(std::thread::id(), std::memory_order_relaxed);
      grant = std::move(held_);
    }
  }

  // The explicit face: the grant is the caller's, and unlock() is not used.
  [[nodiscard]] tl::expected<Grant, Error> acquire(const Request& request = {},
                                                   std::stop_token stop = {}) {
    return service_.acquire(lock_, request, std::move(stop));
  }

  // Of this thread's hold; 0 if it has none.
  [[nodiscard]] std::uint64_t fence() const {
    const std::scoped_lock guard(guard_);
    return mine() ? held_.fence() : 0;
  }
  // This thread does not hold the lock, or lost it.
  [[nodiscard]] bool lost() const {
    const std::scoped_lock guard(guard_);
    return !mine() || held_.lost();
  }
  [[nodiscard]] std::stop_token lost_token() const {
    const std::scoped_lock guard(guard_);
    return mine() ? held_.lost_token() : std::stop_token();
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  [[nodiscard]] bool mine() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  tl::expected<void, Error> take(const Request& request) {
    if (mine())
      throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                              "lock '" + name_ + "': this thread has already locked it");
    auto grant = service_.acquire(lock_, request, {});
    if (!grant) return tl::unexpected(std::move(grant.error()));
    const std::scoped_lock guard(guard_);
    std::swap(held_, *grant);  // what was there was lost; it is freed when `grant` goes
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return {};
  }

  [[noreturn]] static void fail(const Error& error) {
    throw std::system_error(to_error_code(error.code), error.message);
  }

  Service& service_;
  const std::string name_;
  Service::Lock lock_ = nullptr;
  mutable std::mutex guard_;  // of what follows: two threads can believe that they hold the lock
  std::atomic<std::thread::id> owner_;
  Grant held_;
};

}  // namespace turno

// Reservations: several resources of the cluster at once, so many instances of each of some types.
// They are granted whole or not at all, so that two that want the same things do not wait for each
// other.
//
// lock() and its likes throw std::system_error if the cluster cannot be reached. The explicit face
// gives a Grant, which names the instances with a fence of each, and tells when they are lost.
//
// Thread safety: every call from any thread. Threads do not own what they locked: any of them may
// unlock.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

class Reservation {
 public:
  // Of the store that is used unless another is named.
  Reservation(Service& service, std::vector<Claim> claims, std::string store = "resources")
      : service_(service), claims_(std::move(claims)), store_(std::move(store)) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // `request.claims` does not count.
  [[nodiscard]] tl::expected<Grant, Error> acquire(Request request = {},
                                                   std::stop_token stop = {}) {
    request.claims = claims_;
    auto store = service_.open_store(store_);
    if (!store) return tl::unexpected(std::move(store.error()));
    auto grant = service_.acquire(*store, request, std::move(stop));
    service_.close(*store);
    return grant;
  }

  // As often as lock() was called so many times the resources are held, other instances each time.
  void lock() { take({}); }
  [[nodiscard]] bool try_lock() { return try_lock_for(std::chrono::milliseconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    using std::chrono::milliseconds;
    return take({.timeout = std::max(std::chrono::ceil<milliseconds>(duration), milliseconds(0))});
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_for(time - Clock::now());
  }
  // The last that was locked. Does not block; what was not locked is not unlocked.
  void unlock() {
    Grant grant;
    const std::scoped_lock guard(guard_);
    if (grants_.empty()) return;
    grant = std::move(grants_.back());
    grants_.pop_back();
  }
  // Of the last that was locked.
  [[nodiscard]] std::vector<Resource> resources() {
    const std::scoped_lock guard(guard_);
    return grants_.empty() ? std::vector<Resource>() : grants_.back().resources();
  }

  [[nodiscard]] const std::vector<Claim>& claims() const { return claims_; }
  [[nodiscard]] const std::string& store() const { return store_; }

 private:
  bool take(const Request& request) {
    auto grant = acquire(request);
    if (!grant && grant.error().code == Error::Code::timeout) return false;
    if (!grant) throw std::system_error(to_error_code(grant.error().code), grant.error().message);
    const std::scoped_lock guard(guard_);
    grants_.push_back(std::move(*grant));
    return true;
  }

  Service& service_;
  const std::vector<Claim> claims_;
  const std::string store_;
  std::mutex guard_;
  std::vector<Grant> grants_;
};

}  // namespace turno

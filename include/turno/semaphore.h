// A semaphore of the cluster: so many permits, of which each has a number.
//
// acquire(), try_acquire() and release() are those of std::counting_semaphore; they throw
// std::system_error if the cluster cannot be reached. The explicit face gives a Grant, which names
// its permits and their fence, and tells when they are lost.
//
// Thread safety: every call from any thread. Threads do not own permits: any of them may release
// what another acquired.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "turno/grant.h"
#include "turno/service.h"

namespace turno {

class Semaphore {
 public:
  // `permits`: how many it has; 0: as others have said who use it.
  Semaphore(Service& service, std::string name, std::uint32_t permits)
      : service_(service), name_(std::move(name)), permits_(permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  // The explicit face. `request.permits` are granted together or not at all, in the order of
  // requests: who wants many is not overtaken by those who want few.
  [[nodiscard]] tl::expected<Grant, Error> acquire(Request request, std::stop_token stop = {}) {
    if (request.of == 0) request.of = permits_;
    auto semaphore = service_.open_semaphore(name_);
    if (!semaphore) return tl::unexpected(std::move(semaphore.error()));
    auto grant = service_.acquire(*semaphore, request, std::move(stop));
    service_.close(*semaphore);
    return grant;
  }

  void acquire() {
    if (auto taken = take({}); !taken) fail(taken.error());
  }
  [[nodiscard]] bool try_acquire() { return try_acquire_for(std::chrono::milliseconds(0)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& duration) {
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(duration);
    const auto taken = take({.timeout = std::max(timeout, std::chrono::milliseconds(0))});
    if (!taken && taken.error().code != Error::Code::timeout) fail(taken.error());
    return taken.has_value();
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_acquire_for(time - Clock::now());
  }
  // What was acquired first goes back first. Does not block; more than was acquired does nothing.
  void release(std::size_t count = 1) {
    for (; count > 0; --count) {
      Grant grant;
      const std::scoped_lock guard(guard_);
      if (held_.empty()) return;
      grant = std::move(held_.front());
      held_.pop_front();
    }
  }

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  tl::expected<void, Error> take(const Request& request) {
    auto grant = acquire(request);
    if (!grant) return tl::unexpected(std::move(grant.error()));
    const std::scoped_lock guard(guard_);
    held_.push_back(std::move(*grant));
    return {};
  }
  [[noreturn]] static void fail(const Error& error) {
    throw std::system_error(to_error_code(error.code), error.message);
  }

  Service& service_;
  const std::string name_;
  const std::uint32_t permits_;
  std::mutex guard_;
  std::deque<Grant> held_;  // by acquire() and try_acquire()
};

}  // namespace turno

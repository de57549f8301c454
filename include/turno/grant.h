// A lock that is held, or permits of a semaphore, and so on. It is released when the grant is
// destroyed.
//
// Thread safety: as an int; use from one thread at a time. What lost_token() returns may be used
// anywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "turno/error.h"
#include "turno/service.h"

namespace turno {

class [[nodiscard]] Grant {
 public:
  Grant() = default;  // of nothing
  // For services. Takes over the hold.
  Grant(Service& service, Service::Hold hold, std::uint64_t fence) noexcept
      : service_(&service), hold_(hold), fence_(fence) {}
  Grant(Grant&& other) noexcept
      : service_(std::exchange(other.service_, nullptr)),
        hold_(other.hold_),
        fence_(other.fence_) {}
  Grant& operator=(Grant&& other) noexcept {
    if (this == &other) return *this;
    release();
    service_ = std::exchange(other.service_, nullptr);
    hold_ = other.hold_;
    fence_ = other.fence_;
    return *this;
  }
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;
  ~Grant() { release(); }

  // Not empty: neither moved from nor released. It may still have been lost.
  [[nodiscard]] explicit operator bool() const noexcept { return service_ != nullptr; }

  // Larger than that of every earlier grant of this lock: a resource that remembers the largest
  // fence it has seen can refuse a holder that does not know yet that it lost the lock.
  [[nodiscard]] std::uint64_t fence() const noexcept { return service_ == nullptr ? 0 : fence_; }
  // Of a semaphore: the numbers of the permits, from 0 on. A lock has none.
  [[nodiscard]] std::vector<std::uint32_t> permits() const {
    return service_ == nullptr ? std::vector<std::uint32_t>() : service_->permits(hold_);
  }
  // Of a reservation: the instances, each with its own fence; fence() is that of all of them
  // together, and no smaller. A lock has none.
  [[nodiscard]] std::vector<Resource> resources() const {
    return service_ == nullptr ? std::vector<Resource>() : service_->resources(hold_);
  }
  // Valid until the release.
  [[nodiscard]] std::string_view name() const noexcept {
    return service_ == nullptr ? std::string_view() : service_->name(hold_);
  }

  // The lock is no longer held, though it was not released: its time to live ran out, the
  // connection broke, the node shut down.
  [[nodiscard]] bool lost() const noexcept {
    return service_ != nullptr && service_->lost(hold_, fence_);
  }
  // Requested when the lock is lost. Work can be given this token to end with the lock, or a
  // std::stop_callback can act on it; a callback runs in a thread of the service and must not
  // block.
  [[nodiscard]] std::stop_token lost_token() const {
    return service_ == nullptr ? std::stop_token() : service_->lost_token(hold_, fence_);
  }

  // For a request with a time to live: it starts again.
  [[nodiscard]] tl::expected<void, Error> renew(std::chrono::milliseconds ttl) {
    if (service_ != nullptr) return service_->renew(hold_, fence_, ttl);
    return tl::unexpected(Error{Error::Code::invalid, "there is no lock in this grant to renew"});
  }

  // Does not block. A second release does nothing.
  void release() noexcept {
    if (service_ != nullptr) std::exchange(service_, nullptr)->release(hold_, fence_);
  }

 private:
  Service* service_ = nullptr;
  Service::Hold hold_ = nullptr;
  std::uint64_t fence_ = 0;
};

inline tl::expected<Grant, Error> Service::acquire(std::string_view name, const Request& request,
                                                   std::stop_token stop) {
  auto lock = open(name);
  if (!lock) return tl::unexpected(std::move(lock.error()));
  auto grant = acquire(*lock, request, std::move(stop));
  close(*lock);
  return grant;
}

}  // namespace turno

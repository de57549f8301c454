// Two nodes that talk to each other, and a network between them that fails.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/peers.h"
#include "net/testing.h"

namespace turno::net {

inline constexpr std::uint64_t cluster_key = 4711;

// One node's peers, in a thread of their own; notes what arrives.
class Station {
 public:
  struct Arrival {
    std::uint64_t from = 0, lock = 0;
    std::string body;
    Loop::Clock::time_point at{};
    bool operator==(const Arrival& other) const {
      return from == other.from && lock == other.lock && body == other.body;
    }
  };

  explicit Station(std::uint64_t id, const std::string& address = "127.0.0.1:0",
                   const Peers::Options& options = {.time_to_greet = patience})
      : id_(id) {
    thread_.run([&] {
      auto peers =
          Peers::listen(thread_.loop(), address,
                        {.frame = [this](std::uint64_t from,
                                         const wire::Frame& frame) { return note(from, frame); },
                         .trouble = [this](std::uint64_t) { ++troubles_; },
                         .gap =
                             [this](std::uint64_t, std::uint32_t epoch) {
                               lost_epoch_ = epoch;
                               ++gaps_;
                             }},
                        options);
      ASSERT_TRUE(peers) << peers.error();
      peers_ = std::move(*peers);
      peers_->introduce({.id = id, .key = cluster_key});
    });
  }
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;
  ~Station() {
    thread_.stop();
    peers_.reset();
  }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::string& address() const { return peers_->address(); }
  [[nodiscard]] LoopThread& thread() { return thread_; }
  [[nodiscard]] Peers& peers() { return *peers_; }

  std::shared_ptr<Link> meet(std::uint64_t other, const std::string& address,
                             Loop::Clock::duration latency = {},
                             Loop::Clock::duration spacing = {}) {
    return thread_.run([&] {
      peers_->set({{other, "node " + std::to_string(other), address, latency, spacing}});
      return peers_->link(other);
    });
  }
  void part() {
    thread_.run([&] { peers_->set({}); });
  }

  // Every so manieth frame that it is offered.
  void do_not_take(std::uint64_t every) {
    const std::scoped_lock guard(mutex_);
    every_ = every;
  }
  [[nodiscard]] std::size_t arrived() const {
    const std::scoped_lock guard(mutex_);
    return arrivals_.size();
  }
  [[nodiscard]] std::vector<Arrival> arrivals() const {
    const std::scoped_lock guard(mutex_);
    return arrivals_;
  }
  [[nodiscard]] int troubles() const { return troubles_; }
  [[nodiscard]] int gaps() const { return gaps_; }
  [[nodiscard]] std::uint32_t lost_epoch() const { return lost_epoch_; }
  [[nodiscard]] std::uint64_t refused() {
    return thread_.run([&] { return peers_->refused(); });
  }

 private:
  bool note(std::uint64_t from, const wire::Frame& frame) {
    const std::scoped_lock guard(mutex_);
    if (const auto number = ++offered_; every_ > 0 && number % every_ == 0) return false;
    arrivals_.push_back({from, frame.lock, std::string(frame.body), Loop::Clock::now()});
    return true;
  }

  const std::uint64_t id_;
  std::atomic<int> troubles_{0}, gaps_{0};
  std::atomic<std::uint32_t> lost_epoch_{0};
  mutable std::mutex mutex_;
  std::vector<Arrival> arrivals_;
  std::uint64_t offered_ = 0, every_ = 0;
  LoopThread thread_;
  std::unique_ptr<Peers> peers_;
};

inline void send(Link& link, std::uint64_t lock, std::string_view body = {},
                 std::uint32_t epoch = 1) {
  link.send(epoch, lock, static_cast<std::uint8_t>(LinkKind::first_free),
            [&](wire::Writer& out) { out.raw(body); });
}

// Passes bytes on, and cuts each connection after a random number of them, until it did so often
// enough. One connection at a time: a link has no more.
class Proxy {
 public:
  Proxy(std::string target, int cuts, unsigned seed)
      : target_(std::move(target)), cuts_(cuts), random_(seed) {
    auto listener = listen("127.0.0.1:0");
    if (!listener) throw std::runtime_error(listener.error());
    listener_ = std::move(*listener);
    thread_ = std::thread([this] { run(); });
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy() {
    stopped_ = true;
    thread_.join();
  }

  [[nodiscard]] std::string address() const { return address_of(listener_); }
  [[nodiscard]] int cuts_left() const { return cuts_; }

 private:
  void run() {
    while (!stopped_) {
      if (!wait_for(listener_, POLLIN, std::chrono::milliseconds(5))) continue;
      auto dialler = accept(listener_);
      auto target = dialler ? connect_blocking(target_) : Fd();
      if (!target) continue;
      make_blocking(dialler);
      pass_on(dialler, target);
    }
  }

  void pass_on(Fd& dialler, Fd& target) {
    // Some connections break while the two greet each other, most of them later.
    const bool early = random_() % 8 == 0;
    auto left = std::uniform_int_distribution<std::size_t>(1, early ? 60 : 4000)(random_);
    while (!stopped_) {
      pollfd both[] = {{dialler.get(), POLLIN, 0}, {target.get(), POLLIN, 0}};
      if (::poll(both, 2, 5) <= 0) continue;
      for (const bool forth : {true, false}) {
        if (both[forth ? 0 : 1].revents == 0) continue;
        const auto bytes = read_some(forth ? dialler : target, cuts_ > 0 ? left : 65536);
        if (bytes.empty() || !write_all(forth ? target : dialler, bytes)) return;
        if (cuts_ <= 0) continue;
        left -= bytes.size();
        if (left > 0) continue;
        --cuts_;
        if (random_() % 2 == 0) reset(dialler);
        if (random_() % 2 == 0) reset(target);
        return;
      }
    }
  }

  const std::string target_;
  std::atomic<int> cuts_;
  std::mt19937 random_;
  Fd listener_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace turno::net

// Looks for deadlocks among the sessions of a cluster that hold something and wait, reports them,
// and ends waits if it is told to.
//
// Who waits and has something is looked at after a moment, then more and more rarely: a deadlock
// is closed by somebody who begins to wait, and that one's node looks soon. Who waits and has
// nothing, and who has what it wants, costs nothing. One pursuit at a time; in the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "net/log.h"
#include "port/host.h"

namespace turno::port {

class Clients;

class DeadlockWatch final : public Witness {
 public:
  // Of all pursuits of a node: how often one begins again, and with how many sessions.
  static constexpr std::chrono::milliseconds first_look{100}, second_look{1000},
      longest_pause{8000};
  static constexpr std::size_t most_at_once = 256;

  DeadlockWatch(Clients& clients, Host& host) : clients_(clients), host_(host) {}
  ~DeadlockWatch();
  DeadlockWatch(const DeadlockWatch&) = delete;
  DeadlockWatch& operator=(const DeadlockWatch&) = delete;

  // A session has something and has begun to wait, or the other way round.
  void look_soon();
  void count_refusal() { ++refused_; }

  [[nodiscard]] std::vector<cluster::Testimony> testify(const cluster::Summons& summons) override;
  void hear(const cluster::Verdict& verdict) override;

  // Who has these things, for what each of them waits, and so on.
  struct Chain {
    struct Link {
      std::string node;
      cluster::Testimony who;
      cluster::NamedThing has;
      std::optional<cluster::NamedThing> wants;
      std::uint64_t waiting_ms = 0;
      bool stuck = false;  // it can never go on by itself
    };
    std::vector<Link> links;
    std::string deadlock;  // in words, if there is one
  };
  static constexpr std::size_t longest_chain = 64;
  using Told = std::function<void(const Chain&)>;
  void trace(std::set<cluster::NamedThing> things, Told told);
  // All things of this name, or the one of this kind.
  [[nodiscard]] static std::set<cluster::NamedThing> called(std::string_view name,
                                                            std::optional<Thing> thing = {});

  // Of this node's sessions: those whose wait was found in a deadlock to be the one to end, those
  // of these that were ended, and requests that were refused.
  [[nodiscard]] std::uint64_t found() const { return found_; }
  [[nodiscard]] std::uint64_t aborted() const { return aborted_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] std::uint64_t pursuits() const { return pursuits_; }

 private:
  void look_in(std::chrono::nanoseconds time);
  void look();
  void go_on(const std::shared_ptr<cluster::Pursuit>& pursuit, const std::function<void()>& done);
  void conclude(const cluster::Tangle& certain);
  [[nodiscard]] std::string name_of(std::uint64_t member) const;
  [[nodiscard]] std::string in_words(const std::vector<cluster::Tangle::Step>& circle) const;

  Clients& clients_;
  Host& host_;
  net::Loop::Timer timer_;
  Clock::time_point due_ = Clock::time_point::max();  // of the timer
  std::chrono::milliseconds pause_ = second_look;
  std::uint64_t looked_at_ = 0;  // the last session of those that were looked at
  bool pursues_ = false;
  log::Limiter lines_{10, std::chrono::seconds(1)};
  std::uint64_t found_ = 0, aborted_ = 0, refused_ = 0, pursuits_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace turno::port

// Keeps an eye on the registry, in a thread of its own: its calls may take their time (a disk, a
// lock), and locks must not wait for them.
//
// Thread safety: every call from any thread. `on_view` is called in the keeper's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "registry/registry.h"

namespace turno::node {

class Keeper {
 public:
  struct Handlers {
    std::function<void(const cluster::View&)> view;  // a newer one
    std::function<void(const std::string&)> lost;    // this node is no longer a member
  };

  Keeper(registry::Registry& registry, std::uint64_t self, std::uint32_t epoch, Handlers handlers);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() { stop(); }

  // Somebody has seen a newer epoch.
  void look();
  // This member may be dead.
  void suspect(std::uint64_t id);
  // A new epoch is needed, with the same members.
  void bump();
  void stop();
  // What is wrong with the registry, so that the members stay as they are; empty if nothing is.
  [[nodiscard]] std::string trouble() const;

 private:
  void run();
  void round(bool look_at_all, bool bump);
  void take(const registry::Expected<cluster::View>& view, bool& complained);
  void note_trouble(const std::string& trouble);

  registry::Registry& registry_;
  const std::uint64_t self_;
  const Handlers handlers_;
  cluster::View view_;  // the keeper's own
  // About the registry, since it last worked. A full disk can be read, but not written to.
  bool complained_of_reading_ = false, complained_of_writing_ = false;

  mutable std::mutex mutex_;
  std::string trouble_;
  std::condition_variable changed_;
  std::set<std::uint64_t> suspects_;
  bool kicked_ = false, bump_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace turno::node

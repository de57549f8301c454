#include "node/keeper.h"

#include <chrono>
#include <string>
#include <utility>

#include "net/log.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
constexpr auto usual_pause = 100ms;  // between looks at the view
constexpr auto suspicious_pause =
    20ms;  // while somebody may be dead: a process dies piece by piece
constexpr int rounds_between_roll_calls = 5;

}  // namespace

Keeper::Keeper(registry::Registry& registry, std::uint64_t self, std::uint32_t epoch,
               Handlers handlers)
    : registry_(registry), self_(self), handlers_(std::move(handlers)) {
  view_.epoch = epoch;
  thread_ = std::thread([this] { run(); });
}

void Keeper::look() {
  const std::scoped_lock guard(mutex_);
  kicked_ = true;
  changed_.notify_one();
}

void Keeper::suspect(std::uint64_t id) {
  const std::scoped_lock guard(mutex_);
  suspects_.insert(id);
  kicked_ = true;
  changed_.notify_one();
}

void Keeper::bump() {
  const std::scoped_lock guard(mutex_);
  bump_ = kicked_ = true;
  changed_.notify_one();
}

std::string Keeper::trouble() const {
  const std::scoped_lock guard(mutex_);
  return trouble_;
}

void Keeper::note_trouble(const std::string& trouble) {
  const std::scoped_lock guard(mutex_);
  trouble_ = trouble;
}

void Keeper::stop() {
  {
    const std::scoped_lock guard(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Keeper::run() {
  int rounds = 0, patience = 0;
  for (;;) {
    bool bump = false;
    {
      std::unique_lock guard(mutex_);
      const auto pause = patience > 0 ? suspicious_pause : usual_pause;
      changed_.wait_for(guard, pause, [this] { return kicked_ || stopped_; });
      if (stopped_) return;
      // A suspect is watched closely for a second; afterwards the roll call is enough.
      if (!suspects_.empty()) patience = 50;
      suspects_.clear();
      bump = std::exchange(bump_, false);
      kicked_ = false;
    }
    const bool look_at_all = patience > 0 || ++rounds % rounds_between_roll_calls == 0;
    if (patience > 0) --patience;
    round(look_at_all, bump);
  }
}

void Keeper::round(bool look_at_all, bool bump) {
  take(registry_.current(), complained_of_reading_);
  bool anybody_dead = false;
  if (look_at_all)
    for (const auto& member : view_.members)
      anybody_dead |= member.id != self_ && registry_.is_dead(member.id);
  if (!anybody_dead && !bump) return;
  const auto view = registry_.reconsider(bump);
  take(view, complained_of_writing_);
  if (view || !bump || view.error().kind == registry::Error::Kind::lost) return;
  // Who asked for a new epoch needs it: at the next round, that is.
  const std::scoped_lock guard(mutex_);
  bump_ = true;
}

void Keeper::take(const registry::Expected<cluster::View>& view, bool& complained) {
  if (!view) {
    const auto& error = view.error();
    if (error.kind == registry::Error::Kind::lost) return handlers_.lost(error.message);
    note_trouble(error.message);
    if (!std::exchange(complained, true))
      log::error("{}; the members stay as they are until it works", error.message);
    return;
  }
  if (view->epoch < view_.epoch)
    return handlers_.lost("the registry went back from view " + std::to_string(view_.epoch) +
                          " to view " + std::to_string(view->epoch));
  const bool newer = view->epoch > view_.epoch;
  // A new view is what was to be written: if not by this node, then by another one.
  if (complained || (newer && complained_of_writing_)) log::info("the registry works again");
  complained = false;
  if (newer) complained_of_writing_ = false;
  if (!complained_of_reading_ && !complained_of_writing_) note_trouble("");
  if (!newer && !view_.members.empty()) return;
  view_ = *view;
  if (view->index_of(self_) == nobody)
    return handlers_.lost("the registry no longer lists this node");
  if (newer) handlers_.view(*view);
}

}  // namespace turno::node

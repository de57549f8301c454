#include "port/resp/drain.h"

#include <vector>

namespace turno::port {

namespace {

using namespace std::chrono_literals;
constexpr auto pause = 5ms;
// So much longer who has something from another member that leaves, which has its own patience.
constexpr auto longest_inheritance = 30s;

}  // namespace

Drain::Drain(Clients& clients, std::string_view reason, std::chrono::milliseconds patience,
             Done done)
    : clients_(clients),
      reason_(std::string(reason) + ": the node leaves"),
      moved_by_(Clock::now() + patience),
      done_(std::move(done)) {
  for (const auto& [id, session] : clients_.sessions())
    session->announce({.kind = News::Kind::draining, .lock = {}, .fence = {}, .reason = reason_});
  look();
}

bool Drain::may_move(const Session& session, Clock::time_point now) const {
  if (!session.movable() || clients_.host().view().size() <= 1) return false;
  return now < moved_by_ || (now < moved_by_ + longest_inheritance && session.is_heir());
}

void Drain::look() {
  const auto now = Clock::now();
  // What is said to one may end another.
  std::vector<std::uint64_t> busy;
  for (const auto& [id, session] : clients_.sessions())
    if (session->holds() + session->waits() > 0) busy.push_back(id);
  for (const auto id : busy)
    if (auto* session = clients_.find(id)) look_at(*session, now);
  timer_ = clients_.host().loop().after(pause, [this, ended = busy.empty()] {
    timer_ = {};
    ended ? done_() : look();
  });
}

void Drain::look_at(Session& session, Clock::time_point now) {
  const auto found = dismissed_.find(session.id());
  if (found == dismissed_.end()) {
    if (may_move(session, now)) return;
    auto& dismissed = dismissed_[session.id()];
    dismissed.since = now;
    dismissed.cut = !session.hears();
    session.dismiss(reason_);
    // Who cannot be told notices that its connection ends.
    if (dismissed.cut) clients_.cut(session);
    return;
  }
  auto& dismissed = found->second;
  const auto delay = clients_.host().lock_delay();
  // So does one that has been told and does not answer: perhaps it cannot, but somebody near it can
  // act (the guard of turno lock).
  if (!dismissed.cut && now - dismissed.since >= delay / 2) {
    dismissed.cut = true;
    clients_.cut(session);
  }
  if (now - dismissed.since >= delay) session.end();
}

}  // namespace turno::port

// Who leads elections: told by each member of its own leaders, and passed on to those who observe.
#include <utility>

#include "node/daemon.h"

namespace turno::node {

// From any thread.
void Daemon::change_leader(const Leadership& change) {
  loop_.post([this, change] { announce(change); });
}

void Daemon::announce(const Leadership& change) {
  const auto kind = static_cast<std::uint8_t>(table::NodeKind::leader);
  for (const auto& member : view_.members)
    if (const auto link = peers_->link(member.id))
      link->send(view_.epoch, 0, kind, [&](wire::Writer& out) { table::encode(out, change); });
  if (leaders_.hear(change)) tell_observers(change);
}

// What was said in the view before may not have been heard, and who is new has heard nothing.
void Daemon::announce_all_leaders() {
  for (const auto& change : leaders_.adopt(view_)) tell_observers(change);
  for (const auto& leader : elections_->leaders()) announce(leader);
  for (const auto& member : view_.members)
    if (const auto link = peers_->link(member.id))
      link->send(view_.epoch, 0, static_cast<std::uint8_t>(table::NodeKind::leaders_told),
                 [](wire::Writer&) {});
  for (const auto& change : leaders_.heard_all_of(self_.id)) tell_observers(change);
}

// False: it makes no sense.
bool Daemon::receive_leader(NodeId from, const wire::Frame& frame) {
  if (frame.kind == static_cast<std::uint8_t>(table::NodeKind::leaders_told)) {
    const auto sender = view_.members[from.index()].id;
    for (const auto& change : leaders_.heard_all_of(sender)) tell_observers(change);
    return true;
  }
  wire::Reader body(frame.body);
  const auto news = table::decode_leadership(body);
  // Where a leader has moved to may be gone since.
  if (!news || view_.find(news->member) == nullptr) return news.has_value();
  if (leaders_.hear(*news) || !settings_.news_in_order) tell_observers(*news);
  return true;
}

void Daemon::tell_observers(const Leadership& change) {
  const auto observers = observers_;
  for (const auto& [number, observer] : observers) observer(change);
}

std::uint64_t Daemon::observe(Observer observer) {
  observers_.emplace(++observer_numbers_, std::move(observer));
  return observer_numbers_;
}

void Daemon::unobserve(std::uint64_t observer) { observers_.erase(observer); }

}  // namespace turno::node

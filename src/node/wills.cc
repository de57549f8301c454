// Sessions that move from one node to another: what they have is told by the one to the other.
#include <utility>

#include "node/daemon.h"
#include "table/bequests.h"

namespace turno::node {

void Daemon::bequeath(std::string_view member, table::Will will, Taken taken) {
  const auto* heir = view_.find(member);
  if (heir == nullptr || heir->id == self_.id)
    return taken("there is no other node called '" + std::string(member) + "'");
  const auto number = ++question_numbers_;
  wills_[number] = {heir->id, std::move(will), std::move(taken)};
  send_will(number);
}

void Daemon::send_will(std::uint64_t number) {
  const auto& bequest = wills_.at(number);
  peers_->link(bequest.heir)
      ->send(view_.epoch, number, static_cast<std::uint8_t>(table::NodeKind::will),
             [&](wire::Writer& out) { table::encode(out, bequest.will); });
}

// What was said in the view before may not have been heard. Who heard it twice knows by the number.
void Daemon::repeat_wills() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, bequest] : wills_) numbers.push_back(number);
  for (const auto number : numbers) {
    if (view_.find(wills_.at(number).heir) != nullptr) {
      send_will(number);
    } else {
      auto node = wills_.extract(number);
      node.mapped().taken("that node is gone");
    }
  }
}

void Daemon::receive_will(NodeId from, const wire::Frame& frame) {
  wire::Reader body(frame.body);
  auto will = table::decode_will(body);
  if (will) will->age(cluster::Moment::now());
  const auto sender = view_.members[from.index()].id;
  const std::string refusal = !will       ? "it makes no sense"
                              : draining_ ? "this node leaves, too"
                              : !heir_    ? "this node has no clients"
                                          : heir_(sender, frame.lock, *will);
  peers_->link(sender)->send(view_.epoch, frame.lock,
                             static_cast<std::uint8_t>(table::NodeKind::taken),
                             [&](wire::Writer& out) { out.bytes(refusal); });
}

void Daemon::receive_taken(NodeId from, const wire::Frame& frame) {
  const auto found = wills_.find(frame.lock);
  if (found == wills_.end() || found->second.heir != view_.members[from.index()].id) return;
  wire::Reader body(frame.body);
  const auto refusal = std::string(body.bytes());
  if (!body.ok()) return;
  auto node = wills_.extract(found);
  const auto& bequeathing = node.mapped();
  if (refusal.empty())
    for (const auto& bequest : bequeathing.will.bequests)
      if (bequest.thing == table::Thing::election) elections_->moved(bequest.lock, bequest.fence);
  bequeathing.taken(refusal);
}

}  // namespace turno::node

// Questions to all members about what their sessions have and wait for, and what follows.
#include <utility>

#include "node/daemon.h"
#include "table/testimonies.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
// Who does not answer by then is not waited for: what is not known is no deadlock.
constexpr auto time_to_testify = 500ms;

}  // namespace

void Daemon::summon(cluster::Summons summons, Heard heard) {
  const auto number = ++question_numbers_;
  auto& hearing = hearings_[number];
  hearing.summons = std::move(summons);
  hearing.heard = std::move(heard);
  hearing.patience = loop_.after(time_to_testify, [this, number] { conclude(number); });
  send_summons(number, hearing);
}

void Daemon::send_summons(std::uint64_t number, Hearing& hearing) {
  hearing.missing.clear();
  hearing.said.clear();
  if (witness_ != nullptr) hearing.said = witness_->testify(hearing.summons);
  for (const auto& member : view_.members) {
    const auto link = peers_->link(member.id);
    if (!link) continue;
    hearing.missing.insert(member.id);
    link->send(view_.epoch, number, static_cast<std::uint8_t>(table::NodeKind::summons),
               [&](wire::Writer& out) { table::encode(out, hearing.summons); });
  }
  // Not at once: whoever asks may ask again when it is answered.
  if (hearing.missing.empty()) loop_.later([this, number] { conclude(number); });
}

// In a new view answers of the one before are not heard any more.
void Daemon::repeat_summonses() {
  for (auto& [number, hearing] : hearings_) send_summons(number, hearing);
}

bool Daemon::receive_summons(NodeId from, const wire::Frame& frame) {
  wire::Reader body(frame.body);
  const auto summons = table::decode_summons(body);
  if (!summons) return false;
  const auto said =
      witness_ == nullptr ? std::vector<cluster::Testimony>() : witness_->testify(*summons);
  peers_->link(view_.members[from.index()].id)
      ->send(view_.epoch, frame.lock, static_cast<std::uint8_t>(table::NodeKind::testimony),
             [&](wire::Writer& out) { table::encode(out, said); });
  return true;
}

bool Daemon::receive_testimony(NodeId from, const wire::Frame& frame) {
  const auto member = view_.members[from.index()].id;
  wire::Reader body(frame.body);
  auto said = table::decode_testimonies(body, member);
  if (!said) return false;
  const auto found = hearings_.find(frame.lock);
  if (found == hearings_.end() || found->second.missing.erase(member) == 0) return true;
  auto& hearing = found->second;
  std::move(said->begin(), said->end(), std::back_inserter(hearing.said));
  if (hearing.missing.empty()) conclude(frame.lock);
  return true;
}

void Daemon::conclude(std::uint64_t number) {
  auto node = hearings_.extract(number);
  if (node.empty()) return;
  loop_.cancel(node.mapped().patience);
  node.mapped().heard(std::move(node.mapped().said));
}

void Daemon::pass(const cluster::Verdict& verdict) {
  if (verdict.party.member == self_.id) {
    if (witness_ != nullptr) witness_->hear(verdict);
  } else if (const auto link = peers_->link(verdict.party.member)) {
    link->send(view_.epoch, 0, static_cast<std::uint8_t>(table::NodeKind::verdict),
               [&](wire::Writer& out) { table::encode(out, verdict); });
  }
}

bool Daemon::receive_verdict(const wire::Frame& frame) {
  wire::Reader body(frame.body);
  auto verdict = table::decode_verdict(body);
  if (!verdict) return false;
  verdict->party.member = self_.id;
  if (witness_ != nullptr) witness_->hear(*verdict);
  return true;
}

}  // namespace turno::node

#include "table/elections/leaders.h"

#include "cluster/note.h"
#include "table/bequests.h"

namespace turno::table {

void encode(wire::Writer& out, const Leadership& leadership) {
  out.bytes(leadership.election);
  out.varint(leadership.term.value);
  out.u8(static_cast<std::uint8_t>(leadership.state));
  out.varint(leadership.member);
  out.bytes(leadership.value);
  out.bytes(std::string_view(leadership.client).substr(0, 256));
}

std::optional<Leadership> decode_leadership(wire::Reader& in) {
  Leadership leadership;
  leadership.election = in.bytes();
  leadership.term = Fence{in.varint()};
  const auto state = in.u8();
  leadership.member = in.varint();
  leadership.value = in.bytes();
  leadership.client = in.bytes();
  const bool told = state == static_cast<std::uint8_t>(Leadership::State::leads) ||
                    state == static_cast<std::uint8_t>(Leadership::State::ended);
  if (!in.ok() || in.remaining() != 0 || !told || leadership.election.empty() ||
      leadership.election.size() > cluster::longest_name ||
      leadership.value.size() > longest_value || leadership.term == Fence{})
    return {};
  leadership.state = static_cast<Leadership::State>(state);
  return leadership;
}

bool Leaders::hear(const Leadership& news) {
  auto& known = known_[news.election];
  auto& last = known.last;
  const bool first = last.election.empty();
  const bool later =
      first || news.term > last.term || (news.term == last.term && news.state > last.state);
  const bool same_reign = !first && news.term == last.term && news.leads() && last.leads();
  if (same_reign) known.heard = views_;
  const bool moved = same_reign && news.member != last.member;
  if (!later && !moved) return false;
  // The end of a reign of which the beginning was not heard is no change, if nobody led before.
  const bool change = news.leads() || last.leads();
  last = news;
  known.heard = views_;
  if (!news.leads()) remember_end(last);
  return change;
}

std::vector<Leadership> Leaders::adopt(const cluster::View& view) {
  ++views_;
  std::vector<Leadership> changes;
  for (auto& [name, known] : known_)
    if (known.last.leads() && view.find(known.last.member) == nullptr)
      end(known, Leadership::State::gone, changes);
  return changes;
}

std::vector<Leadership> Leaders::heard_all_of(std::uint64_t member) {
  std::vector<Leadership> changes;
  for (auto& [name, known] : known_)
    if (known.last.leads() && known.last.member == member && known.heard < views_)
      end(known, Leadership::State::ended, changes);
  return changes;
}

void Leaders::end(Known& known, Leadership::State state, std::vector<Leadership>& changes) {
  known.last.state = state;
  changes.push_back(known.last);
  ended_.emplace_back(known.last.election, known.last.term);
}

void Leaders::remember_end(const Leadership& last) {
  ended_.emplace_back(last.election, last.term);
  while (ended_.size() > most_ended) {
    const auto [name, term] = std::move(ended_.front());
    ended_.pop_front();
    const auto known = known_.find(name);
    if (known == known_.end() || known->second.last.leads() || known->second.last.term != term)
      continue;
    known_.erase(known);
  }
}

const Leadership* Leaders::leader_of(std::string_view election) const {
  const auto known = known_.find(election);
  return known == known_.end() || !known->second.last.leads() ? nullptr : &known->second.last;
}

std::vector<Leadership> Leaders::all() const {
  std::vector<Leadership> all;
  for (const auto& [name, known] : known_)
    if (known.last.leads()) all.push_back(known.last);
  return all;
}

}  // namespace turno::table

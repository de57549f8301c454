#include "table/elections/election_table.h"

#include "table/locked_table.h"

namespace turno::table {

std::vector<Leadership> ElectionTable::leaders() {
  const Locked locked(*this);
  std::vector<Leadership> all;
  all.reserve(leaders_.size());
  for (const auto& [name, leader] : leaders_) all.push_back(leader);
  return all;
}

void ElectionTable::moved(std::string_view election, Fence term) {
  const Locked locked(*this);
  if (const auto leader = find_leader(election, term); leader != leaders_.end())
    leaders_.erase(leader);
}

ElectionTable::ByName::const_iterator ElectionTable::find_leader(std::string_view election,
                                                                 Fence term) const {
  const auto leader = leaders_.find(election);
  return leader != leaders_.end() && leader->second.term == term ? leader : leaders_.end();
}

void ElectionTable::begins(const Entry& entry, Fence term, const Owner& owner,
                           std::string_view value) {
  auto& leader = leaders_[entry.name];
  // The value may be that of the leader itself.
  leader = {.election = entry.name,
            .term = term,
            .state = Leadership::State::leads,
            .member = member_,
            .value = std::string(value),
            .client = owner.client};
  tell(leader);
}

void ElectionTable::ends(const Entry& entry, Fence term) {
  const auto leader = find_leader(entry.name, term);
  if (leader == leaders_.end()) return;  // it has moved away
  leaders_.erase(leader);
  tell({.election = entry.name,
        .term = term,
        .state = Leadership::State::ended,
        .member = member_,
        .value = {},
        .client = {}});
}

void ElectionTable::stays_away(const Entry& entry, Fence term) {
  if (const auto leader = find_leader(entry.name, term); leader != leaders_.end())
    leaders_.erase(leader);
}

std::string ElectionTable::value_of(const Entry& entry, Fence term) const {
  const auto leader = find_leader(entry.name, term);
  return leader == leaders_.end() ? std::string() : leader->second.value;
}

void ElectionTable::tell(Leadership leadership) {
  afterwards_.add([this, leadership = std::move(leadership)] { changed_(leadership); });
}

}  // namespace turno::table

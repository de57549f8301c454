#include "cluster/waits/pursuit.h"

namespace turno::cluster {

Pursuit::Pursuit(const std::vector<Testimony>& waiting, Without without)
    : without_(without), met_(without), certain_(without) {
  for (const auto& session : waiting) met_.add(session);
  ask(met_.wanted());
}

void Pursuit::ask(const std::set<NamedThing>& things) {
  question_.clear();
  if (questions_ == most_questions || met_.sessions().size() >= most_sessions) return;
  for (const auto& thing : things) {
    if (question_.size() == most_things) break;
    if (asked_.insert(thing).second) question_.push_back(thing);
  }
  if (!question_.empty()) ++questions_;
}

void Pursuit::hear(const std::vector<Testimony>& answers) {
  if (confirming_) {
    Tangle later(without_);
    for (const auto& session : answers) later.add(session);
    certain_ = met_.still_so(later);
    question_.clear();
    return;
  }
  for (const auto& session : answers) {
    if (met_.sessions().size() >= most_sessions && met_.find(session.party) == nullptr) continue;
    met_.add(session);
  }
  ask(met_.wanted());
  if (question_.empty()) go_on();
}

// All are met who could be. If some of them can never go on, that is asked again.
void Pursuit::go_on() {
  if (met_.knots().empty()) return;
  if (without_ == Without::confirmation) {
    certain_ = met_;
    return;
  }
  confirming_ = true;
  for (const auto& thing : met_.wanted_by(met_.stuck())) {
    if (question_.size() == most_things) break;
    question_.push_back(thing);
  }
}

}  // namespace turno::cluster

#include "cluster/home.h"

#include <algorithm>
#include <utility>

namespace turno::cluster {

using Kind = Note::Kind;
using Without = Rules::Without;

void Home::begin(const NodeSet& asked, Instance about, bool nobody_gone_has_it) {
  auto waiting = std::exchange(tries, {});
  auto known = std::exchange(perhaps, {});
  const bool knew = weighed;
  const auto wanted_permits = resize_to;
  *this = {};
  here = true;
  missing = asked;
  inquiry = about;
  clear = nobody_gone_has_it;
  if (about == 0) return;
  tries = std::move(waiting);
  weighed = knew;
  perhaps = std::move(known);
  resize_to = wanted_permits;
}

bool Home::clears(const NodeSet& gone) const {
  if (!here || !missing.empty() || !clear) return false;
  bool told = false;
  gone.for_each([&](NodeId member) { told = told || members.contains(member); });
  return !told;
}

void Home::receive(const Context& context, NodeId from, const Note& note, bool used_here,
                   Letters& letters) {
  if (!here) return;  // a peer that takes this member for the home of another thing
  switch (note.kind) {
    case Kind::report:
      take_report(context, from, note);
      return conclude(context, letters);
    case Kind::reported:
      take(from, context.without(Without::inquiries) ? inquiry : 0);
      return conclude(context, letters);
    case Kind::open:
      return take_open(context, from, note, letters);
    case Kind::query:
      if (lives() && note.instance == instance) return tell_opened(from, letters);
      letters.push_back({from, {.kind = Kind::gone, .instance = note.instance}});
      return;
    case Kind::probe:
      if (lives()) return answer_probe(from, used_here, letters);
      tries.insert(from);
      return conclude(context, letters);
    case Kind::forgo:
      return forgo(context, from, used_here, letters);
    case Kind::resize:
      return resize(context, from, note.permits, letters);
    case Kind::held:
    case Kind::freed:
      if (lives() && note.instance == instance) mark(from, note.kind == Kind::held, letters);
      return;
    default:
      return;
  }
}

void Home::take_open(const Context& context, NodeId from, const Note& note, Letters& letters) {
  auto wishes_for = note.terms;
  if (context.kind == Primitive::reservation && lives()) refuse_unknown(from, wishes_for, letters);
  if (lives() && serves(wishes_for)) return tell_opened(from, letters);
  if (lives()) end_instance(context, letters);  // what it wants an instance gets at its birth only
  if (permits == 0) permits = note.permits;
  want(from, wishes_for);
  wishes.insert(from);
  conclude(context, letters);
}

void Home::end_instance(const Context& context, Letters& letters) {
  const auto ended = instance;
  retire(context, letters);
  letters.push_back({context.self, {.kind = Kind::retire, .instance = ended}});
}

// False: it was not asked for, or has come before.
bool Home::take(NodeId from, Instance about) {
  if (instance != 0 || inquiry != about || !missing.contains(from)) return false;
  missing.erase(from);
  if (missing.empty()) inquiry = 0;
  return true;
}

void Home::take_report(const Context& context, NodeId from, const Note& note) {
  if (!take(from, note.instance)) return;
  if (context.without(Without::all_reports)) {
    missing.clear();
    inquiry = 0;
  }
  if (context.kind == Primitive::room) {
    take_room(from, note);
  } else if (context.kind == Primitive::reservation) {
    take_store(from, note);
  } else {
    for (const auto& holding : note.holdings) believe(holding);
  }
  if (note.instance == 0)
    evidence.insert(evidence.end(), note.evidence.begin(), note.evidence.end());
  if (note.permits != 0) permits = note.permits;  // it counts more than what somebody wishes
  numbers = std::max({numbers, permits, note.numbers});
  resized |= note.resized;
  clear |= note.clear;
  context.ledger->floor = std::max(context.ledger->floor, note.count);
}

// Two cannot have one lock or one permit: who says so second is not believed.
void Home::believe(const Holding& holding) {
  const bool second = holding.units.empty()
                          ? !holdings.empty()
                          : std::any_of(holding.units.begin(), holding.units.end(),
                                        [has = taken()](std::uint32_t unit) {
                                          return unit < has.size() && has[unit];
                                        });
  if (!second) holdings.push_back(holding);
}

// Of each unit, whether somebody has it. Whoever asks often asks once.
std::vector<bool> Home::taken() const {
  std::vector<bool> has;
  for (const auto& holding : holdings)
    for (const auto unit : holding.units) {
      if (unit >= has.size()) has.resize(std::size_t{unit} + 1);
      has[unit] = true;
    }
  return has;
}

// An instance that was born for it alone ends at once: a home that was stopped hears thousands of
// wishes, and that they are none any more.
void Home::forgo(const Context& context, NodeId from, bool used_here, Letters& letters) {
  if (lives()) {
    auto others = members;
    others.erase(context.self);
    others.erase(from);
    if (others.empty() && !used_here) end_instance(context, letters);
    return;
  }
  wishes.erase(from);
  tries.erase(from);
  std::erase_if(wanted, [&](const Wanted& each) { return each.member == from; });
  if (wishes.empty() && holdings.empty()) permits = resize_to = 0;
}

// If all is known, and somebody needs an instance.
void Home::conclude(const Context& context, Letters& letters) {
  const bool needed = !holdings.empty() || !wishes.empty() || !tries.empty();
  if (instance != 0 || !missing.empty() || !needed) return;
  if (context.kind == Primitive::semaphore && permits == 0 && resize_to == 0)
    return tell_unknown(letters);
  give_birth(context, letters);
}

void Home::tell_unknown(Letters& letters) {
  std::exchange(wishes, {}).for_each([&](NodeId member) {
    letters.push_back({member, {.kind = Kind::unknown}});
  });
}

// What no living member has reported, a dead one may have.
void Home::keep_for_the_dead(const Context& context) {
  switch (context.kind) {
    case Primitive::semaphore:
      return keep_permits_for_the_dead(context);
    case Primitive::room:
      return keep_visit_for_the_dead(context);
    case Primitive::reservation:
      return keep_instances_for_the_dead(context);
    default:
      return holdings.push_back({.seat = context.self});
  }
}

void Home::give_birth(const Context& context, Letters& letters) {
  if (context.without(Without::fence_floor)) context.ledger->floor = 0;
  const auto asked = std::exchange(wishes, {});
  const auto tried = std::exchange(tries, {});
  NodeId winner;  // of those who try, if it is free
  // Nobody else can have a lock.
  const bool had = !holdings.empty() && context.kind == Primitive::lock;
  if (had || context.without(Without::escrow)) clear = true;
  if (context.kind == Primitive::reservation) stock(letters);
  if (context.kind == Primitive::semaphore && permits == 0) permits = resize_to;
  if (!clear) {
    keep_for_the_dead(context);
  } else if (holdings.empty() && asked.empty() && !context.without(Without::winners)) {
    tried.for_each([&](NodeId member) { winner = std::min(winner, member); });
    holdings.push_back({.seat = winner});
  }
  instance = ++context.ledger->born;
  count = context.ledger->floor;
  if (context.kind == Primitive::semaphore) number_permits(context);
  if (context.kind == Primitive::room) furnish(letters);
  if (context.kind == Primitive::room || context.kind == Primitive::reservation)
    count_seats(context);
  tell_opened(context.self, letters);
  for (const auto& holding : holdings) {
    if (context.kind == Primitive::reservation && members.contains(holding.seat)) continue;
    if (context.rules.tries) occupied.insert(holding.seat);
    tell_opened(holding.seat, letters);
  }
  if (context.kind == Primitive::room) tell_managers(context, letters);
  asked.for_each([&](NodeId member) { tell_opened(member, letters); });
  tried.for_each([&](NodeId member) {
    if (member != winner) letters.push_back({member, {.kind = Kind::busy}});
  });
}

void Home::tell_opened(NodeId member, Letters& letters) {
  members.insert(member);
  letters.push_back({member,
                     {.kind = Kind::opened,
                      .instance = instance,
                      .holdings = holdings,
                      .count = count,
                      .permits = permits,
                      .numbers = numbers,
                      .resized = resized,
                      .terms = terms}});
}

// Of those who try at once, one may go on.
void Home::answer_probe(NodeId from, bool used_here, Letters& letters) {
  if (used_here || !occupied.empty()) {
    letters.push_back({from, {.kind = Kind::busy}});
    return;
  }
  occupied.insert(from);
  if (!members.contains(from)) tell_opened(from, letters);
  letters.push_back({from, {.kind = Kind::go, .instance = instance}});
}

// A member says that its user is inside, or no longer: those who try need not wait for it.
void Home::mark(NodeId from, bool inside, Letters& letters) {
  occupied.erase(from);
  if (!inside) return;
  occupied.for_each([&](NodeId member) { letters.push_back({member, {.kind = Kind::busy}}); });
  occupied.insert(from);
}

void Home::retire(const Context& context, Letters& letters) {
  const auto told = members;
  const auto retired = instance;
  auto types = std::move(terms.groups);
  begin(told, retired, clear);
  if (context.kind == Primitive::reservation) remembered = std::move(types);
  told.for_each([&](NodeId member) {
    if (member != context.self)
      letters.push_back({member, {.kind = Kind::retire, .instance = retired}});
  });
}

}  // namespace turno::cluster

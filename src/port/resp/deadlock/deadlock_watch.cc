#include "port/resp/deadlock/deadlock_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text/printable.h"
#include "net/log.h"
#include "port/resp/clients.h"

namespace turno::port {

namespace {

using cluster::NamedThing;
using cluster::Pursuit;
using cluster::Tangle;
using cluster::Testimony;

constexpr std::size_t most_in_words = 8;  // sessions of a circle

std::string in_words(const NamedThing& thing) {
  const auto words =
      fmt::format("{} '{}'", table::name(static_cast<Thing>(thing.kind)), thing.name);
  return thing.part.empty() ? words : fmt::format("'{}' of {}", thing.part, words);
}

}  // namespace

DeadlockWatch::~DeadlockWatch() {
  *alive_ = false;
  host_.loop().cancel(timer_);
}

// ---- when

void DeadlockWatch::look_soon() {
  pause_ = second_look;
  look_in(first_look);
}

void DeadlockWatch::look_in(std::chrono::nanoseconds time) {
  const auto at = Clock::now() + time;
  if (at >= due_ || pursues_) return;
  host_.loop().cancel(timer_);
  due_ = at;
  timer_ = host_.loop().after(time, [this] {
    timer_ = {};
    due_ = Clock::time_point::max();
    look();
  });
}

void DeadlockWatch::look() {
  std::map<std::uint64_t, Session*> all;
  std::chrono::nanoseconds soonest = pause_;
  bool some = false;
  for (const auto& [id, session] : clients_.sessions()) {
    if (!session->has_and_waits()) continue;
    some = true;
    const auto left = first_look - session->since_it_last_asked();
    // The clock of waits and that of timers are not the same to the last.
    if (left > std::chrono::milliseconds(5)) {
      soonest = std::min<std::chrono::nanoseconds>(soonest, left);
    } else {
      all.emplace(id, session.get());
    }
  }
  if (!some) return;
  // Of too many the next ones.
  std::vector<Testimony> waiting;
  auto next = all.upper_bound(looked_at_);
  for (auto left = std::min(all.size(), most_at_once); left > 0; --left, ++next) {
    if (next == all.end()) next = all.begin();
    looked_at_ = next->first;
    waiting.push_back(next->second->testimony(host_.self().id, {}));
  }
  if (all.size() > most_at_once) soonest = std::min<std::chrono::nanoseconds>(soonest, first_look);
  if (soonest == pause_) pause_ = std::min(pause_ * 2, longest_pause);
  pursues_ = true;
  ++pursuits_;
  const auto pursuit = std::make_shared<Pursuit>(waiting, host_.missing_rule());
  go_on(pursuit, [this, pursuit, soonest] {
    pursues_ = false;
    look_in(soonest);
    conclude(pursuit->certain());
  });
}

void DeadlockWatch::go_on(const std::shared_ptr<Pursuit>& pursuit,
                          const std::function<void()>& done) {
  if (pursuit->over()) return done();
  host_.summon({.things = pursuit->question(), .everybody = pursuit->begins_with_things()},
               [this, alive = alive_, pursuit, done](const std::vector<Testimony>& answers) {
                 if (!*alive) return;
                 pursuit->hear(answers);
                 go_on(pursuit, done);
               });
}

// ---- what is known here

std::vector<Testimony> DeadlockWatch::testify(const cluster::Summons& summons) {
  std::map<std::uint64_t, std::vector<NamedThing>> asked_about;
  std::vector<Testimony> said;
  const auto self = host_.self().id;
  for (const auto& thing : summons.things) {
    const auto kind = static_cast<Thing>(thing.kind);
    auto& table = table::several_have(kind) ? static_cast<table::Table&>(host_.pools(kind))
                                            : host_.locks_of(kind);
    for (const auto& holder : table.holders(thing.name, cluster::most_testimonies)) {
      if (clients_.find(holder.session) != nullptr) {
        asked_about[holder.session].push_back(thing);
      } else if (summons.everybody) {
        // A user of the program in which this node is embedded: nobody knows what it waits for.
        said.push_back({.party = {self, holder.session},
                        .client = holder.client,
                        .from = holder.from,
                        .has = {{.thing = thing, .number = holder.fence.value}}});
      }
    }
  }
  for (const auto& [id, things] : asked_about) {
    if (said.size() >= cluster::most_testimonies) break;
    auto& session = *clients_.find(id);
    if (!summons.everybody && session.waits() == 0) continue;
    said.push_back(session.testimony(self, things));
  }
  if (said.size() > cluster::most_testimonies) said.resize(cluster::most_testimonies);
  return said;
}

// ---- what is done

// Of deadlocks with sessions of this node only; the others are found by others, too.
void DeadlockWatch::conclude(const Tangle& certain) {
  const auto self = host_.self().id;
  for (const auto& knot : certain.knots()) {
    if (std::ranges::none_of(knot, [&](const auto& party) { return party.member == self; }))
      continue;
    const auto youngest = certain.youngest(knot);
    const auto circle = certain.circle(youngest, knot);
    host_.pass({.party = youngest, .wait = circle[0].wait->number, .text = in_words(circle)});
  }
}

void DeadlockWatch::hear(const cluster::Verdict& verdict) {
  auto* session = clients_.find(verdict.party.session);
  if (session == nullptr) return;
  const auto awaited = session->awaited(verdict.wait);
  // It has ended since, or this was said before: everybody in a deadlock may find it.
  if (!awaited || !session->report(verdict.wait)) return;
  ++found_;
  const bool aborts = awaited->may_be_aborted;
  const auto text = printable(verdict.text);
  if (const auto unsaid = lines_.admit())
    log::warning("deadlock: {}; the wait of session {} for {} '{}' {}{}", text, session->id(),
                 table::name(awaited->thing), printable(awaited->name),
                 aborts ? "is ended" : "goes on, as no policy ends it", *unsaid);
  if (!aborts) return;
  if (session->abort(verdict.wait,
                     fmt::format("{} '{}' was not taken, as nobody could have gone on: {}. What "
                                 "this session has it keeps; give it back, and ask again",
                                 table::name(awaited->thing), awaited->name, text)))
    ++aborted_;
}

// ---- for people

std::string DeadlockWatch::name_of(std::uint64_t member) const {
  const auto* known = host_.view().find(member);
  return known == nullptr ? "a node that is gone" : known->name;
}

std::string DeadlockWatch::in_words(const std::vector<Tangle::Step>& circle) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(circle.size(), most_in_words); ++i) {
    const auto& [who, has, wait, wants] = circle[i];
    const bool told_where = !who->from.empty() && who->from != who->client;
    text += fmt::format("{}{}{} (session {} at {}) has {} and waits for {}", i == 0 ? "" : "; ",
                        who->client, told_where ? fmt::format(" [{}]", who->from) : "",
                        who->party.session, name_of(who->party.member), port::in_words(has->thing),
                        port::in_words(wants->thing));
  }
  if (circle.size() > most_in_words)
    text += fmt::format("; and {} more", circle.size() - most_in_words);
  return text;
}

std::set<NamedThing> DeadlockWatch::called(std::string_view name, std::optional<Thing> thing) {
  std::set<NamedThing> things;
  for (std::size_t kind = 0; kind < table::thing_names.size(); ++kind)
    if (!thing || *thing == static_cast<Thing>(kind))
      things.insert({static_cast<std::uint8_t>(kind), std::string(name)});
  return things;
}

void DeadlockWatch::trace(std::set<NamedThing> things, Told told) {
  const auto pursuit = std::make_shared<Pursuit>(things);
  go_on(pursuit, [this, pursuit, things = std::move(things), told = std::move(told)] {
    Chain chain;
    const auto& certain = pursuit->certain();
    const auto stuck = certain.stuck();
    for (const auto& thing : things)
      for (const auto& [who, has, wait, wants] : pursuit->met().chain(thing, longest_chain)) {
        auto& link = chain.links.emplace_back();
        link.node = name_of(who->party.member);
        link.who = *who;
        link.has = has->thing;
        link.stuck = stuck.contains(who->party);
        if (wait == nullptr) continue;
        link.wants = wants->thing;
        link.waiting_ms = wait->waiting_ms;
      }
    for (const auto& knot : certain.knots())
      chain.deadlock += (chain.deadlock.empty() ? "" : ". And: ") +
                        in_words(certain.circle(certain.youngest(knot), knot));
    told(chain);
  });
}

}  // namespace turno::port

#include "field/host.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace turno::field {

Host::Host(const Cast& cast, const sim::Options& options, const Layout& layout, std::size_t self,
           Medium& medium, std::uint64_t life)
    : cast_(cast),
      options_(options),
      layout_(layout),
      self_(self),
      medium_(medium),
      network_(options) {
  const auto nodes = options.setup.size();
  for (auto i = self; i < nodes; i += layout.hosts) {
    Seat seat{.id = NodeId{i},
              .actor = cast.make(options.setup, NodeId{i}),
              .random = Random(Digest(options.seed + (life << 32)).value() + i)};
    seat.settings.resize(cast.timers.size());
    if (layout.clocks) seat.clock = VectorClock(nodes);
    seats_.push_back(std::move(seat));
  }
}

bool Host::asks(NodeId node) const {
  return has_users(cast_.info.primitive) &&
         (options_.requesters.empty() || options_.requesters.contains(node));
}

Time Host::first_arrival(Seat& seat) const {
  return options_.first ? options_.first->draw(seat.random) : options_.arrivals.draw(seat.random);
}

void Host::start() {
  for (auto& seat : seats_) {
    if (asks(seat.id))
      schedule(first_arrival(seat), {.what = What::arrival, .seat = place_of(seat)});
    feed(seat, {.kind = EventKind::start}, {});
  }
}

void Host::recover(std::string_view stable) {
  auto& seat = seats_.front();
  seat.actor->revive(stable);
  seat.stable = stable;
  if (asks(seat.id))
    schedule(medium_.now() + options_.arrivals.draw(seat.random),
             {.what = What::arrival, .seat = place_of(seat)});
  feed(seat, {.kind = EventKind::recover}, {});
}

void Host::take(Envelope envelope) {
  const auto at = envelope.due;
  const auto seat = place_of(seat_of(envelope.to));
  auto kept = std::make_shared<Envelope>(std::move(envelope));
  // The sender has counted it.
  queue_.push({.time = at,
               .order = ++order_,
               .what = What::deliver,
               .seat = seat,
               .envelope = std::move(kept)});
}

void Host::bounce(Envelope envelope) {
  auto& seat = seat_of(envelope.from);
  const auto at = std::max(envelope.due, medium_.now()) + options_.delay.draw(seat.random);
  auto kept = std::make_shared<Envelope>(std::move(envelope));
  schedule(at, {.what = What::bounce, .seat = place_of(seat), .envelope = std::move(kept)});
}

void Host::learn_of_crash(NodeId dead, Time crashed) {
  for (auto& seat : seats_) {
    if (seat.actor->detects_crashes()) continue;
    const auto at = crashed + options_.faults.detect.draw(seat.random);
    schedule(at, {.what = What::suspect, .seat = place_of(seat), .about = dead});
  }
}

void Host::schedule(Time at, Event event) {
  event.time = at;
  event.order = ++order_;
  medium_.expect(seats_[event.seat].id, 1);
  queue_.push(std::move(event));
}

Time Host::next() const {
  return queue_.empty() ? std::numeric_limits<Time>::max() : queue_.top().time;
}

void Host::work() {
  while (!queue_.empty()) {
    const auto now = medium_.now();
    if (queue_.top().time > now) return;
    auto event = queue_.top();
    queue_.pop();
    lag_ = now - event.time;
    happen(event);
    lag_ = 0;
    medium_.expect(seats_[event.seat].id, -1);  // after what follows from it was counted
  }
}

void Host::happen(Event& event) {
  auto& seat = seats_[event.seat];
  switch (event.what) {
    case What::arrival:
      return arrive(seat, event.time);
    case What::leave:
      return leave(seat);
    case What::deliver:
      return deliver(seat, event);
    case What::expire:
      if (seat.settings[event.number] == event.setting)
        feed(seat, {.kind = EventKind::expire, .number = event.number}, {.number = event.number});
      return;
    case What::suspect:
      return feed(seat, {.kind = EventKind::suspect, .from = event.about}, {.from = event.about});
    case What::bounce:
      return feed(
          seat,
          {.kind = EventKind::bounce, .from = event.envelope->to, .bytes = event.envelope->bytes},
          {.from = event.envelope->to, .bytes = event.envelope->bytes});
    case What::choose:
      seat.choosing = false;
      return choose(seat);
  }
}

void Host::arrive(Seat& seat, Time at) {
  if (options_.arrivals.kind == sim::Arrivals::Kind::poisson)
    schedule(at + options_.arrivals.draw(seat.random),
             {.what = What::arrival, .seat = place_of(seat)});
  const auto now = medium_.now();
  if (!seat.busy) {
    request(seat, now);
  } else if (options_.busy == sim::Busy::queue) {
    seat.backlog.push(now);
  } else {
    medium_.write({.time = now, .node = seat.id, .lost = true});
  }
}

void Host::request(Seat& seat, Time since) {
  seat.busy = true;
  if (options_.wish) seat.wish = options_.wish(seat.id, seat.random);
  feed(seat, {.kind = EventKind::request, .demand = seat.wish.demand()},
       {.wish = seat.wish, .since = since});
}

void Host::leave(Seat& seat) {
  seat.inside = false;
  const bool more = options_.busy == sim::Busy::queue && !seat.backlog.empty();
  if (more && cast_.info.overlap == Overlap::before_leaving) {
    request(seat, seat.backlog.pop());
    feed(seat, {.kind = EventKind::release}, {});
  } else {
    seat.busy = false;
    feed(seat, {.kind = EventKind::release}, {});
    if (more) request(seat, seat.backlog.pop());
  }
  for (auto& event : std::exchange(seat.unread, {})) {
    deliver(seat, event);
    medium_.expect(seat.id, -1);
  }
  const bool again = options_.entries_per_node == 0 || seat.entries < options_.entries_per_node;
  if (options_.arrivals.kind == sim::Arrivals::Kind::closed && again)
    schedule(medium_.now() + options_.arrivals.draw(seat.random),
             {.what = What::arrival, .seat = place_of(seat)});
}

void Host::deliver(Seat& seat, Event& event) {
  if (options_.sites.deaf && seat.inside) {
    medium_.expect(seat.id, 1);
    return seat.unread.push_back(event);
  }
  const auto& envelope = *event.envelope;
  medium_.delivered(envelope);
  if (layout_.clocks) seat.clock.observe(envelope.clock);
  feed(seat, {.kind = EventKind::receive, .from = envelope.from, .bytes = envelope.bytes},
       {.from = envelope.from, .message = envelope.number, .bytes = envelope.bytes});
}

// The first choice, which ends something, is as likely as all together, as in the simulator.
void Host::choose(Seat& seat) {
  const auto choices = seat.actor->choices();
  if (choices == 0) return;
  const auto choice =
      static_cast<std::uint32_t>(seat.random.below(2) == 0 ? 0 : seat.random.below(choices));
  Record record{.number = choice};
  if (options_.trace) record.choice = seat.actor->choice_name(choice);
  feed(seat, {.kind = EventKind::choose, .number = choice}, std::move(record));
}

void Host::think(Seat& seat) {
  if (seat.choosing || seat.actor->choices() == 0) return;
  seat.choosing = true;
  schedule(medium_.now() + options_.arrivals.draw(seat.random),
           {.what = What::choose, .seat = place_of(seat)});
}

// The record comes with what only the caller knows of the event.
void Host::feed(Seat& seat, const Stimulus& stimulus, Record record) {
  auto input = stimulus;
  input.now = record.time = medium_.now();
  record.lag = lag_;
  record.node = seat.id;
  record.kind = input.kind;
  if (!options_.trace) record.bytes.clear();
  if (layout_.clocks) {
    seat.clock.tick(seat.id);
    record.clock = seat.clock;
  }
  seat.actor->step(input, response_);
  perform(seat, record);
  note_changes(seat, record);
  medium_.write(record);
  if (record.fence) medium_.entered(*record.fence);
  if (!has_users(cast_.info.primitive)) think(seat);
}

void Host::perform(Seat& seat, Record& record) {
  for (const auto& alarm : response_.alarms) {
    const auto setting = ++seat.settings[alarm.timer];
    if (alarm.delay_ns < 0) continue;
    schedule(
        record.time + alarm.delay_ns,
        {.what = What::expire, .seat = place_of(seat), .number = alarm.timer, .setting = setting});
  }
  for (auto& message : response_.sends) send(seat, message, record);
  if (!response_.fence) return;
  record.fence = response_.fence;
  record.units = response_.units;
  seat.inside = true;
  ++seat.entries;
  schedule(record.time + options_.hold.draw(seat.random),
           {.what = What::leave, .seat = place_of(seat)});
}

void Host::send(Seat& seat, Response::Send& message, Record& record) {
  const bool exempt = cast_.costed && options_.sites.only_control_far &&
                      message.carries != Carries::request && message.carries != Carries::control;
  const auto delay = network_.delay(seat.id, message.to, exempt, seat.random);
  Envelope envelope{.from = seat.id,
                    .to = message.to,
                    .due = network_.arrival(seat.id, message.to, record.time + delay),
                    .number = ++seat.sent,
                    .clock = seat.clock,
                    .bytes = std::move(message.bytes)};
  record.sends.push_back({.to = message.to,
                          .kind = message.kind,
                          .carries = message.carries,
                          .preempts = message.preempts,
                          .declares = message.declares,
                          .delay = delay,
                          .bytes = options_.trace ? envelope.bytes : std::string()});
  if (message.to.index() >= options_.setup.size()) return;  // to nobody: the judge complains
  medium_.expect(message.to, 1);
  if (layout_.host_of(message.to) == self_) {
    take(std::move(envelope));
  } else {
    medium_.send(envelope);
  }
}

void Host::note_changes(Seat& seat, Record& record) {
  if (const auto* suspects = seat.actor->suspects();
      suspects != nullptr && *suspects != seat.suspects) {
    suspects->for_each([&](NodeId other) {
      if (!seat.suspects.contains(other)) record.suspicions.push_back(other);
    });
    seat.suspects = *suspects;
  }
  if (auto state = seat.actor->state(); state != seat.state)
    record.state = seat.state = std::move(state);
  if (!cast_.recoverable) return;
  if (auto stable = seat.actor->stable(); stable != seat.stable) {
    seat.stable = std::move(stable);
    medium_.keep(seat.id, seat.stable);
  }
}

}  // namespace turno::field

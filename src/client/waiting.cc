// The way of an attempt: queued, stranded, asked, done.
#include <algorithm>
#include <array>
#include <utility>

#include "client/session.h"
#include "core/assert.h"

namespace turno {

namespace {

using std::chrono::milliseconds;
using State = client::Attempt::State;

// Who asked for little time looks for another node sooner. Short of this a busy node looks silent.
constexpr milliseconds least_patience{250};
constexpr milliseconds longest_pause{500};

std::string does_not_answer(const client::Channel& channel) {
  return "the node at " + channel.address.text() + " does not answer";
}

}  // namespace

milliseconds Client::Session::patience_of(const Attempt& attempt) const {
  if (!attempt.request.timeout) return options_.answer_timeout;
  const auto share =
      attempt.tries_once() ? options_.answer_timeout / 4 : *attempt.request.timeout / 4;
  return std::min(options_.answer_timeout, std::max(share, least_patience));
}

// The home of what is tried may be stopped: then its node says so after a second.
milliseconds Client::Session::longest_try() const { return options_.answer_timeout * 3 / 4; }

tl::expected<Client::Session::Held*, Error> Client::Session::wait(Guard& guard,
                                                                  const AttemptPointer& attempt,
                                                                  const std::stop_token& stop) {
  // The attempt's lock may be gone as soon as it is done.
  const auto what = client::quoted(attempt->lock);
  const auto time = attempt->request.timeout.value_or(milliseconds(0));
  const auto failure = [&](Error::Code code, const std::string& more = {}) {
    auto text = what + ": the wait was cancelled";
    if (code == Error::Code::timeout && attempt->tries_once()) {
      text = what + " was not acquired at once";
    } else if (code == Error::Code::timeout) {
      text = what + " was not acquired within " + client::milliseconds(time) + " ms";
    }
    return tl::unexpected(Error{code, text + more, attempt->perhaps_taken});
  };
  // The node ends a wait in time. If it does not, it is not well.
  const auto grace = attempt->tries_once()
                         ? longest_try()
                         : std::min(patience_of(*attempt) * 3 / 2, client::longest_excess);
  std::optional<Clock::time_point> limit;
  if (attempt->deadline) limit = *attempt->deadline + grace;
  while (attempt->state != State::done) {
    if (stop.stop_requested() && !attempt->withdrawn) {
      if (attempt->state != State::asked) {
        leave(attempt);
        return failure(Error::Code::cancelled);
      }
      withdraw(*attempt);
      limit = Clock::now() + options_.answer_timeout;
    }
    if (attempt->state == State::stranded) {
      if (auto error = find_place(guard, attempt, stop)) {
        leave(attempt);
        error->perhaps_taken = attempt->perhaps_taken;
        if (error->code == Error::Code::timeout) return failure(error->code, error->message);
        return tl::unexpected(std::move(*error));
      }
    } else if (attempt->state == State::queued) {
      if (!attempt->deadline) {
        attempt->ready.wait(guard);
      } else if (Clock::now() < *attempt->deadline) {
        attempt->ready.wait_until(guard, *attempt->deadline);
      } else {
        leave(attempt);
        return failure(Error::Code::timeout);
      }
    } else if (!limit || Clock::now() < *limit) {
      wait_for_answer(guard, attempt, limit);
    } else {
      const auto code = attempt->withdrawn ? Error::Code::cancelled : Error::Code::timeout;
      auto& channel = *attempt->places.front()->channel;
      attempt->perhaps_taken = true;
      leave(attempt);
      if (!channel.is_alive()) retire(channel, does_not_answer(channel));
      return failure(code, "; " + does_not_answer(channel));
    }
  }
  if (attempt->held != nullptr) return attempt->held;
  const auto code = attempt->withdrawn ? Error::Code::cancelled : attempt->error.code;
  if (code == Error::Code::timeout || code == Error::Code::cancelled) return failure(code);
  attempt->error.perhaps_taken |= attempt->perhaps_taken;
  return tl::unexpected(attempt->error);
}

std::optional<Error> Client::Session::find_place(Guard& guard, const AttemptPointer& attempt,
                                                 const std::stop_token& stop) {
  const bool moved = attempt->moves > 0;
  auto limit = Clock::now() + options_.connect_timeout;
  if (attempt->tries_once()) {
    limit = *attempt->deadline + longest_try();
  } else if (attempt->deadline) {
    limit = *attempt->deadline;
  }
  if (moved && Clock::now() >= limit)
    return Error{Error::Code::timeout, "; " + attempt->moved_because};
  if (!current_) {
    // Nodes that accept everything and then go are not asked in a circle as fast as that goes.
    if (attempt->moves > 1) {
      const auto pause =
          std::min(milliseconds(10) * (1 << std::min(attempt->moves, 10)), longest_pause);
      attempt->ready.wait_until(guard, std::min(Clock::now() + pause, limit),
                                [&] { return stop.stop_requested(); });
    }
    const auto reached = reach(guard, limit, stop, moved);
    if (stop.stop_requested()) return std::nullopt;  // wait() sees it
    if (!reached) {
      if (!moved) return reached.error();
      const auto text = attempt->moved_because + "; then " + reached.error().message;
      if (attempt->deadline && Clock::now() >= limit)
        return Error{Error::Code::timeout, "; " + text};
      return Error{Error::Code::disconnected, text};
    }
  }
  if (!current_) return std::nullopt;
  ask(attempt, *current_);
  if (!moved) return std::nullopt;
  const auto text = client::quoted(attempt->lock) + ": " + attempt->moved_because +
                    "; now it waits at node " + current_->identity.node +
                    ", and its place in the queue is lost";
  guard.unlock();
  say(text);
  guard.lock();
  return std::nullopt;
}

// Or until it is time to look whether the node is still there.
void Client::Session::wait_for_answer(Guard& guard, const AttemptPointer& attempt,
                                      std::optional<Clock::time_point> limit) {
  const auto patience = patience_of(*attempt);
  auto next = limit;
  if (!attempt->withdrawn)
    for (const auto& place : attempt->places) {
      const auto look = watch(*place->channel, patience);
      if (!look) return retire(*place->channel, does_not_answer(*place->channel));
      next = next ? std::min(*next, *look) : *look;
    }
  if (!next) return attempt->ready.wait(guard);
  attempt->ready.wait_until(guard, *next);
  // Who was stopped has heard nothing, and knows nothing of the node.
  if (Clock::now() > *next + patience / 2)
    for (const auto& place : attempt->places)
      if (place->channel->asked_for_life) place->channel->asked_for_life = Clock::now();
}

void Client::Session::leave(const AttemptPointer& attempt) {
  auto& lock = attempt->lock;
  const auto places = std::exchange(attempt->places, {});
  for (const auto& place : places) give_up(place);
  std::erase(lock.queued, attempt);
  attempt->state = State::done;
  if (lock.asked == attempt) {
    lock.asked.reset();
    ask_next(lock);
  }
  stop_using(lock);
}

void Client::Session::ask_next(Named& lock) {
  if (lock.held != nullptr || lock.asked || lock.queued.empty()) return;
  const auto attempt = lock.queued.front();
  lock.queued.pop_front();
  lock.asked = attempt;
  if (current_) return ask(attempt, *current_);
  attempt->state = State::stranded;
  attempt->ready.notify_one();
}

namespace {

// As RESERVE takes it: "gpu:2/8".
std::string text_of(const Claim& claim) {
  return claim.type + ":" + std::to_string(claim.count) +
         (claim.of == 0 ? "" : "/" + std::to_string(claim.of));
}

}  // namespace

void Client::Session::ask(const AttemptPointer& attempt, Channel& channel) {
  auto place = std::make_shared<Place>();
  place->attempt = attempt;
  place->channel = &channel;
  place->name = attempt->lock.name;
  place->thing = attempt->lock.thing;
  attempt->places.push_back(place);
  attempt->state = State::asked;
  attempt->ready.notify_one();  // it watches the node from now on
  channel.asking.insert(place);

  std::string timeout, ttl, count, of;
  std::vector<std::string> claims;
  constexpr std::array<std::string_view, 5> commands = {"LOCK", "PERMIT", "CAMPAIGN", "ENTER",
                                                        "RESERVE"};
  client::Connection::Arguments arguments{commands.at(static_cast<std::size_t>(place->thing))};
  if (place->thing == client::Thing::store) {
    for (const auto& claim : attempt->request.claims) claims.push_back(text_of(claim));
    arguments.insert(arguments.end(), claims.begin(), claims.end());
    arguments.push_back("IN");
  }
  arguments.push_back(place->name);
  if (place->thing == client::Thing::election) arguments.push_back(attempt->request.value);
  if (place->thing == client::Thing::room) arguments.push_back(attempt->request.group);
  arguments.push_back("ASYNC");
  if (place->thing == client::Thing::room && attempt->request.of > 0) {
    of = std::to_string(attempt->request.of);
    arguments.insert(arguments.end(), {"CAPACITY", of});
  }
  if (place->thing == client::Thing::semaphore) {
    count = std::to_string(attempt->request.permits);
    arguments.insert(arguments.end(), {"COUNT", count});
    of = std::to_string(attempt->request.of);
    if (attempt->request.of > 0) arguments.insert(arguments.end(), {"OF", of});
  }
  if (attempt->deadline) {
    const auto left = std::chrono::ceil<milliseconds>(*attempt->deadline - Clock::now());
    timeout = client::milliseconds(std::max(left, milliseconds(attempt->tries_once() ? 0 : 1)));
    if (attempt->tries_once()) timeout = "0";
    arguments.insert(arguments.end(), {"TIMEOUT", timeout});
  }
  if (attempt->request.ttl) {
    ttl = client::milliseconds(*attempt->request.ttl);
    arguments.insert(arguments.end(), {"TTL", ttl});
  }
  // The ticket comes at once from a node that lives.
  if (channel.is_alive()) channel.asked_for_life = Clock::now();
  // If the connection is over, on_closed() is about to tell the attempt.
  channel.connection->send(arguments,
                           [this, place](Reply* reply) { return on_ticket(place, reply); });
}

// The attempt ends when the node answers, be it with a grant that came first.
void Client::Session::withdraw(Attempt& attempt) {
  attempt.withdrawn = true;
  for (const auto& place : attempt.places) cancel(place);
}

void Client::Session::cancel(const PlacePointer& place) {
  if (place->cancelling || !place->ticket) return;  // without a ticket on_ticket() will do it
  place->cancelling = true;
  const auto ticket = std::to_string(*place->ticket);
  place->channel->connection->send(
      {"CANCEL", ticket}, [this, place](Reply* reply) { return on_cancelled(place, reply); });
}

// Whatever the node says to it from now on, nobody waits for it.
void Client::Session::give_up(const PlacePointer& place) {
  place->attempt.reset();
  cancel(place);
}

void Client::Session::give_back(Channel& channel, const client::Bequest::Release& release) {
  if (channel.bequest && !client::several_have(release.thing))
    return void(channel.bequest->released.insert(release));
  unlock(channel, release);
}

void Client::Session::unlock(Channel& channel, const client::Bequest::Release& release) {
  if (!channel.connection) return;
  const auto number = std::to_string(release.fence);
  if (release.thing == client::Thing::store) {
    channel.connection->send({"RETURN", number, "IN", release.name}, [](Reply*) { return true; });
    return;
  }
  constexpr std::array<std::string_view, 4> commands = {"UNLOCK", "RELEASE", "RESIGN", "LEAVE"};
  channel.connection->send(
      {commands.at(static_cast<std::size_t>(release.thing)), release.name, number},
      [](Reply*) { return true; });
}

void Client::Session::detach(const PlacePointer& place) {
  if (const auto attempt = std::exchange(place->attempt, nullptr))
    std::erase(attempt->places, place);
}

void Client::Session::grant(const PlacePointer& place, std::uint64_t fence,
                            std::vector<std::uint32_t> permits, std::vector<Resource> resources) {
  const auto attempt = place->attempt;
  auto& channel = *place->channel;
  moved_.notify_all();
  if (attempt == nullptr || attempt->withdrawn) {
    give_back(channel, {place->name, fence, place->thing});
    return settle(place, {Error::Code::cancelled, {}});
  }
  detach(place);
  const auto others = std::exchange(attempt->places, {});
  for (const auto& other : others) give_up(other);
  auto& lock = attempt->lock;
  const auto owner = std::find_if(channels_.begin(), channels_.end(),
                                  [&](const auto& each) { return each.get() == &channel; });
  TURNO_ASSERT(owner != channels_.end());
  attempt->held = new Held{.lock = &lock,
                           .fence = fence,
                           .channel = *owner,
                           .permits = std::move(permits),
                           .resources = std::move(resources)};
  ++channel.holds;
  attempt->state = State::done;
  lock.held = attempt->held;
  attempt->ready.notify_one();
  lock.asked.reset();  // its use of the lock becomes the holder's
}

void Client::Session::finish(const AttemptPointer& attempt, Error error) {
  auto& lock = attempt->lock;
  TURNO_ASSERT(lock.asked == attempt && attempt->places.empty());
  lock.asked.reset();
  attempt->error = std::move(error);
  attempt->state = State::done;
  attempt->ready.notify_one();
  ask_next(lock);
  stop_using(lock);
}

void Client::Session::settle(const PlacePointer& place, Error error) {
  const auto attempt = place->attempt;
  detach(place);
  moved_.notify_all();
  if (attempt == nullptr || !attempt->places.empty()) return;
  const bool moving = error.code == Error::Code::cancelled && !attempt->withdrawn;
  if (!moving) return finish(attempt, std::move(error));
  attempt->state = State::stranded;
  attempt->ready.notify_one();
}

void Client::Session::strand(const PlacePointer& place, const std::string& reason,
                             bool perhaps_taken) {
  const auto attempt = place->attempt;
  detach(place);
  if (attempt == nullptr) return;
  attempt->perhaps_taken |= perhaps_taken;
  if (!attempt->places.empty()) return;
  if (attempt->withdrawn) return finish(attempt, {Error::Code::cancelled, {}});
  attempt->state = State::stranded;
  ++attempt->moves;
  attempt->moved_because = reason;
  attempt->ready.notify_one();
}

}  // namespace turno

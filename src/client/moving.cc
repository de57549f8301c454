// What is done when a node leaves: its sessions move to another one.
//
// The heir, a session at another node, is asked for a ticket (SESSION INHERIT); with it the old
// session hands over all that it holds (SESSION BEQUEATH). The answer to that comes in order with
// grants and losses, so what the old session holds at that moment is what was handed over. If no
// answer comes, the heir is asked which of it it holds (SESSION HELD).
#include <algorithm>
#include <utility>

#include "client/session.h"

namespace turno {

namespace {

using std::chrono::milliseconds;

// To a node that takes longer nothing is moved.
constexpr milliseconds patience{1000};
constexpr milliseconds pause{50}, time_to_arrive{20};
constexpr milliseconds usual_lock_delay{1000};
constexpr int enough_rounds = 40;
constexpr std::size_t names_at_once = 60;  // a request has at most 64 arguments

std::uint64_t fence_in(const wire::Reply& reply) {
  if (client::is_integer(reply)) return static_cast<std::uint64_t>(reply.integer);
  return std::strtoull(reply.text.c_str(), nullptr, 10);
}

}  // namespace

std::vector<client::Held*> Client::Session::held_by(const Channel& channel, bool several) {
  std::vector<Held*> all;
  for (auto& [_, lock] : names_)
    if (lock.held != nullptr && lock.held->channel.get() == &channel &&
        client::several_have(lock.thing) == several)
      all.push_back(lock.held);
  return all;
}

bool Client::Session::has_waits(const Channel& channel) const {
  return std::any_of(channel.asking.begin(), channel.asking.end(),
                     [](const auto& place) { return place->attempt != nullptr; }) ||
         std::any_of(channel.places.begin(), channel.places.end(),
                     [](const auto& each) { return each.second->attempt != nullptr; });
}

void Client::Session::begin_to_move(Channel& channel) {
  channel.identity.draining = true;
  const auto owner = std::find_if(channels_.begin(), channels_.end(),
                                  [&](const auto& each) { return each.get() == &channel; });
  if (std::exchange(channel.leaving, true) || owner == channels_.end() || ending_) return;
  if (current_.get() == &channel) current_.reset();
  addresses_.postpone(channel.address);
  leaving_.push_back(*owner);
  moved_.notify_all();
  if (std::exchange(moving_, true)) return;
  if (mover_.joinable()) mover_.join();  // it has nothing more to do
  mover_ = std::thread([this] { run_mover(); });
}

void Client::Session::run_mover() {
  Guard guard(mutex_);
  while (!leaving_.empty() && !ending_) {
    const auto old = std::move(leaving_.front());
    leaving_.erase(leaving_.begin());
    move_away(guard, old);
  }
  moving_ = false;
}

void Client::Session::move_away(Guard& guard, const ChannelPointer& old) {
  std::vector<net::Address> refused;
  int in_vain = 0;
  while (!ending_ && !old->over && (has_waits(*old) || !held_by(*old).empty())) {
    const auto heir = find_heir(guard, *old, refused);
    if (ending_ || old->over) break;
    if (heir == nullptr) {
      refused.clear();
      // Nobody takes it, perhaps because all leave: the old node need not wait for it to move.
      if (++in_vain == enough_rounds)
        old->connection->send({"CLIENT", "CAPA"}, [](Reply*) { return true; });
      moved_.wait_until(guard, Clock::now() + pause);
      continue;
    }
    move_waits(*old, *heir);
    if (held_by(*old).empty()) {
      moved_.wait_until(guard, Clock::now() + pause);
    } else if (!bequeath(guard, old, heir)) {
      refused.push_back(heir->address);
    }
    end_if_idle(*heir);
  }
  end_if_idle(*old);
}

// The current channel, or a new one to somebody who has not refused.
Client::Session::ChannelPointer Client::Session::find_heir(
    Guard& guard, const Channel& old, const std::vector<net::Address>& refused) {
  const auto is_refused = [&](const net::Address& address) {
    return std::find(refused.begin(), refused.end(), address) != refused.end();
  };
  if (current_ && !is_refused(current_->address)) return current_;
  const auto order = addresses_.in_order();
  for (const auto& known : order) {
    if (known.address == old.address || is_refused(known.address)) continue;
    guard.unlock();
    auto made = open_channel(known, patience);
    guard.lock();
    if (!made || !adopt(*made)) continue;
    if (!ending_ && !old.over) return *made;
    end_if_idle(**made);  // too late
    return nullptr;
  }
  return nullptr;
}

// Each asks at the new node. When it stands there in the queue, it leaves the old one.
void Client::Session::move_waits(Channel& old, Channel& heir) {
  std::vector<AttemptPointer> attempts;
  for (const auto& place : old.asking) attempts.push_back(place->attempt);
  for (const auto& [_, place] : old.places) attempts.push_back(place->attempt);
  for (const auto& attempt : attempts)
    if (attempt != nullptr && !attempt->withdrawn && attempt->places.size() == 1)
      ask(attempt, heir);
}

void Client::Session::leave_old_queues(const Attempt& attempt) {
  const bool stands =
      std::any_of(attempt.places.begin(), attempt.places.end(),
                  [](const auto& place) { return place->ticket && !place->channel->leaving; });
  for (const auto& place : attempt.places)
    if (stands && place->channel->leaving) cancel(place);
}

// True: there is nothing more to hand over.
bool Client::Session::bequeath(Guard& guard, const ChannelPointer& old,
                               const ChannelPointer& heir) {
  guard.unlock();
  const auto ticket = heir->connection->call({"SESSION", "INHERIT"}, patience);
  guard.lock();
  if (!ticket || ticket->is_error() || ticket->text.empty()) return false;
  if (old->over || ending_) return true;
  old->bequest.emplace(client::Bequest{.heir = heir});
  // If the connection is over, on_closed() is about to tell it.
  old->connection->send(
      {"SESSION", "BEQUEATH", heir->identity.node, ticket->text},
      [this, raw = old.get()](Reply* reply) { return on_bequeathed(*raw, reply); });
  moved_.wait(guard, [&] {
    return ending_ || old->bequest->heir == nullptr || old->bequest->refused ||
           old->bequest->unknown_since;
  });
  if (ending_) return true;
  const bool done = old->bequest->heir == nullptr;
  if (!done && old->bequest->unknown_since) ask_heir(guard, old, heir);
  const bool refused = old->bequest->refused;
  // Many locks go in several parts, and some may have gone before one was refused.
  if (refused) ask_what_it_has(guard, *old, *heir, Clock::now() + patience);
  finish_bequest(*old);
  if (refused) return false;
  const auto text = "node " + old->identity.node + " leaves: what was held there is held at node " +
                    heir->identity.node + " now";
  const bool holds = heir->holds > 0;
  guard.unlock();
  if (options_.held_by && holds) options_.held_by(heir->connection->descriptor());
  say(text);
  guard.lock();
  return true;
}

bool Client::Session::on_bequeathed(Channel& old, Reply* reply) {
  if (reply == nullptr) return true;  // on_closed() follows
  const Guard guard(mutex_);
  if (!old.bequest) return true;
  if (!client::is_integer(*reply) && !reply->is_error()) return false;
  auto& bequest = *old.bequest;
  const auto held = held_by(old);
  const auto count = held.size() + bequest.released.size();
  if (reply->is_error()) {
    bequest.refused = true;
  } else if (static_cast<std::size_t>(reply->integer) == count) {
    for (auto* each : held) hand_over(*each, bequest.heir);
    for (const auto& release : std::exchange(bequest.released, {}))
      give_back(*bequest.heir, release);
    bequest.heir.reset();  // it is done
  } else {
    bequest.unknown_since = Clock::now();
    bequest.reason = "the node left and handed over less than it held";
  }
  moved_.notify_all();
  return true;
}

void Client::Session::hand_over(Held& held, const ChannelPointer& heir) {
  --held.channel->holds;
  ++heir->holds;
  held.channel = heir;
}

// What could not be handed over is released where it is.
void Client::Session::finish_bequest(Channel& old) {
  const auto bequest = std::exchange(old.bequest, std::nullopt);
  for (const auto& release : bequest->released) give_back(old, release);
  moved_.notify_all();
}

// The message from node to node may come later than the end of the connection.
void Client::Session::ask_heir(Guard& guard, const ChannelPointer& old,
                               const ChannelPointer& heir) {
  const auto limit =
      *old->bequest->unknown_since + old->identity.lock_delay.value_or(usual_lock_delay) / 2;
  const auto is_missing = [&] { return !held_by(*old).empty() || !old->bequest->released.empty(); };
  while (!ending_ && !heir->over && is_missing() && Clock::now() < limit) {
    ask_what_it_has(guard, *old, *heir, limit);
    if (is_missing()) moved_.wait_until(guard, std::min(limit, Clock::now() + time_to_arrive));
  }
  Lost lost;
  for (auto* held : held_by(*old)) lose(*held, old->bequest->reason, lost);
  guard.unlock();
  for (auto& stop : lost) stop.request_stop();
  guard.lock();
}

void Client::Session::ask_what_it_has(Guard& guard, Channel& old, Channel& heir,
                                      Clock::time_point limit) {
  std::vector<std::string> names;
  for (const auto* held : held_by(old)) names.push_back(held->lock->name);
  for (const auto& release : old.bequest->released) names.push_back(release.name);
  for (std::size_t begin = 0; begin < names.size() && !ending_; begin += names_at_once) {
    client::Connection::Arguments arguments{"SESSION", "HELD"};
    for (auto i = begin; i < std::min(begin + names_at_once, names.size()); ++i)
      arguments.push_back(names[i]);
    const auto left = std::chrono::ceil<milliseconds>(limit - Clock::now());
    if (left <= milliseconds(0)) return;
    guard.unlock();
    const auto held = heir.connection->call(arguments, left);
    guard.lock();
    if (!held) return;
    take_stock(old, *held);
  }
}

void Client::Session::take_stock(Channel& old, const Reply& held) {
  auto& released = old.bequest->released;
  for (const auto& pair : held.elements) {
    if (pair.elements.size() < 2) continue;
    const auto& name = pair.elements[0].text;
    const auto fence = fence_in(pair.elements[1]);
    const auto thing = pair.elements.size() > 2 && pair.elements[2].text == "election"
                           ? client::Thing::election
                           : client::Thing::lock;
    auto* mine = find_held(name, fence, client::name(thing));
    if (mine != nullptr && mine->channel.get() == &old) hand_over(*mine, old.bequest->heir);
    const auto given_up = released.find({name, fence, thing});
    if (given_up == released.end()) continue;
    give_back(*old.bequest->heir, *given_up);
    released.erase(given_up);
  }
}

}  // namespace turno

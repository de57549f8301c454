// What nodes say: tickets, grants, losses, the end of a connection.
#include <algorithm>
#include <utility>

#include "client/session.h"

namespace turno {

using client::is_integer;
using client::quoted;

namespace {

// What the node says when it refuses: a word in capitals, then text for people.
Error refusal(const client::Place& place, const std::string& text, Error::Code otherwise) {
  const auto word = text.substr(0, text.find(' '));
  const bool is_word = word == "ERR" || word == "HELD" || word == "UNAVAILABLE" ||
                       word == "LOADING" || word == "TRYAGAIN" || word == "DEADLOCK";
  if (word == "UNAVAILABLE" || word == "LOADING" || word == "TRYAGAIN")
    otherwise = Error::Code::unavailable;
  if (word == "DEADLOCK") otherwise = Error::Code::deadlock;
  const auto rest = is_word && text.size() > word.size() ? text.substr(word.size() + 1) : text;
  if (otherwise == Error::Code::deadlock) return {otherwise, "deadlock: " + rest};
  return {otherwise, quoted(place.name, place.thing) + ": the node refuses: " + rest};
}

// Of a lock or a room its fence, of an election its term; of permits pairs of their numbers and
// fences; of a reservation its fence and what it has: types, numbers and fences.
struct GrantedFence {
  std::uint64_t fence = 0;
  client::Thing thing = client::Thing::lock;
  std::vector<std::uint32_t> permits;
  std::vector<Resource> resources;
};
bool read_resources(const wire::Reply& list, GrantedFence& granted) {
  granted.thing = client::Thing::store;
  for (const auto& each : list.elements) {
    const auto& parts = each.elements;
    if (parts.size() != 3 || !is_integer(parts[1]) || !is_integer(parts[2])) return false;
    granted.resources.push_back({parts[0].text, static_cast<std::uint32_t>(parts[1].integer),
                                 static_cast<std::uint64_t>(parts[2].integer)});
  }
  return !granted.resources.empty();
}
bool read_grant(const wire::Reply& part, GrantedFence& granted) {
  if (is_integer(part)) {
    granted.fence = static_cast<std::uint64_t>(part.integer);
    return true;
  }
  if (part.elements.size() == 2 && is_integer(part.elements[0])) {
    granted.fence = static_cast<std::uint64_t>(part.elements[0].integer);
    return read_resources(part.elements[1], granted);
  }
  granted.thing = client::Thing::semaphore;
  if (part.kind != wire::Reply::Kind::array || part.elements.empty()) return false;
  for (const auto& pair : part.elements) {
    const auto& both = pair.elements;
    if (both.size() != 2 || !is_integer(both[0]) || !is_integer(both[1])) return false;
    granted.permits.push_back(static_cast<std::uint32_t>(both[0].integer));
    granted.fence = std::max(granted.fence, static_cast<std::uint64_t>(both[1].integer));
  }
  return true;
}

std::string leaves(const client::Channel& channel) {
  return "the node at " + channel.address.text() + " leaves";
}

}  // namespace

Client::Session::PlacePointer Client::Session::place_at(Channel& channel, std::int64_t ticket) {
  const auto found = channel.places.find(ticket);
  if (found == channel.places.end()) return nullptr;
  auto place = std::move(found->second);
  channel.places.erase(found);
  return place;
}

bool Client::Session::on_ticket(const PlacePointer& place, Reply* reply) {
  if (reply == nullptr) return true;  // on_closed() follows
  const Guard guard(mutex_);
  auto& channel = *place->channel;
  if (reply->is_error()) {
    channel.asking.erase(place);
    if (reply->text.starts_with("DRAINING")) {
      strand(place, leaves(channel), false);
      retire(channel, leaves(channel));
    } else {
      settle(place, refusal(*place, reply->text, Error::Code::refused));
    }
    return true;
  }
  if (!is_integer(*reply) || !channel.places.emplace(reply->integer, place).second) return false;
  channel.asking.erase(place);
  place->ticket = reply->integer;
  if (place->attempt == nullptr || place->attempt->withdrawn) {
    cancel(place);
  } else {
    leave_old_queues(*place->attempt);
  }
  return true;
}

bool Client::Session::on_cancelled(const PlacePointer& place, Reply* reply) {
  if (reply == nullptr) return true;
  if (!is_integer(*reply)) return false;
  if (reply->integer == 0) return true;  // too late: a push has come or will
  const Guard guard(mutex_);
  if (place_at(*place->channel, *place->ticket) == nullptr) return false;  // answered already
  settle(place, {Error::Code::cancelled, {}});
  return true;
}

bool Client::Session::on_push(Channel& channel, Reply& push) {
  const auto& parts = push.elements;
  if (parts.empty()) return false;
  const auto& kind = parts[0].text;
  if (kind == "lost") return on_lost(channel, push);
  if (kind == "members" && parts.size() > 1) {
    learn(channel.address, parts[1]);
    return true;
  }
  if (kind == "draining") {
    const Guard guard(mutex_);
    begin_to_move(channel);
    return true;
  }
  const bool known = kind == "granted" || kind == "timeout" || kind == "failed" ||
                     kind == "refused" || kind == "deadlock";
  if (!known) return true;  // of a newer node
  if (parts.size() < 3 || !is_integer(parts[1])) return false;
  GrantedFence granted;
  if (kind == "granted" && (parts.size() < 4 || !read_grant(parts[3], granted))) return false;
  const auto& name = parts[2].text;
  const Guard guard(mutex_);
  const auto found = channel.places.find(parts[1].integer);
  if (found != channel.places.end() && found->second->name != name) return false;
  const auto place = place_at(channel, parts[1].integer);
  if (place == nullptr) {
    if (kind != "granted") return true;
    using client::Thing;
    if (granted.thing == Thing::semaphore || granted.thing == Thing::store) {
      give_back(channel, {name, granted.fence, granted.thing});
      return true;
    }
    // Of which of these it is the push does not say. For the others it is for nothing.
    for (const auto thing : {Thing::lock, Thing::election, Thing::room})
      give_back(channel, {name, granted.fence, thing});
    return true;
  }
  if (kind == "granted") {
    grant(place, granted.fence, std::move(granted.permits), std::move(granted.resources));
  } else if (kind == "timeout") {
    settle(place, {Error::Code::timeout, {}});
  } else if (kind == "refused" || kind == "deadlock") {
    settle(place, refusal(*place, parts.size() > 3 ? parts[3].text : "",
                          kind == "refused" ? Error::Code::refused : Error::Code::deadlock));
  } else {
    // The node ends, and nothing was taken there.
    strand(place, leaves(channel), false);
    retire(channel, leaves(channel));
  }
  return true;
}

// Null: nobody has that any more.
Client::Session::Held* Client::Session::find_held(std::string_view name, std::uint64_t fence,
                                                  std::string_view thing) {
  const auto fits = [&](const Named& lock) {
    return lock.name == name && lock.held != nullptr && lock.held->fence == fence &&
           client::name(lock.thing) == thing;
  };
  // Of a lock or an election there is one by its name.
  const auto found = names_.find(std::string(thing) + " " + std::string(name));
  if (found != names_.end() && fits(found->second)) return found->second.held;
  if (thing == client::name(client::Thing::lock) || thing == client::name(client::Thing::election))
    return nullptr;
  for (auto& [key, lock] : names_)
    if (fits(lock)) return lock.held;
  return nullptr;
}

// Nodes come and go: when this one does, the others must be known.
void Client::Session::learn(const net::Address& source, const Reply& members) {
  if (!options_.learn_members) return;
  const auto known = client::members_from(members);
  const Guard guard(mutex_);
  addresses_.learn(known, source);
}

bool Client::Session::on_lost(Channel& channel, const Reply& push) {
  const auto& parts = push.elements;
  if (parts.size() < 3 || !is_integer(parts[2])) return false;
  const auto fence = static_cast<std::uint64_t>(parts[2].integer);
  const auto thing = parts.size() > 4 ? parts[4].text : std::string("lock");
  Lost lost;
  {
    const Guard guard(mutex_);
    auto* held = find_held(parts[1].text, fence, thing);
    if (held == nullptr || held->channel.get() != &channel)
      return true;  // it was released while the news was on its way
    lose(*held, parts.size() > 3 ? parts[3].text : "the node took it back", lost);
  }
  for (auto& stop : lost) stop.request_stop();
  return true;
}

void Client::Session::on_closed(Channel& channel, const std::string& reason) {
  Lost lost;
  {
    const Guard guard(mutex_);
    const bool known = std::any_of(channels_.begin(), channels_.end(),
                                   [&](const auto& each) { return each.get() == &channel; });
    if (!known) return;  // it was never used, or the session itself ends
    channel.over = true;
    if (current_.get() == &channel) current_.reset();
    addresses_.postpone(channel.address);
    const auto text =
        "the connection to the node at " + channel.address.text() + " broke: " + reason;
    const auto asking = std::exchange(channel.asking, {});
    const auto places = std::exchange(channel.places, {});
    if (channel.bequest) {
      if (!channel.bequest->unknown_since) channel.bequest->unknown_since = Clock::now();
      channel.bequest->reason = text;
    } else {
      for (auto* held : held_by(channel)) lose(*held, text, lost);
    }
    for (auto* held : permits_by(channel)) lose(*held, text, lost);
    moved_.notify_all();
    for (const auto& place : asking) strand(place, text, true);
    for (const auto& [_, place] : places) strand(place, text, true);
  }
  for (auto& stop : lost) stop.request_stop();
}

}  // namespace turno

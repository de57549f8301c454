// What nodes say: tickets, grants, losses, the end of a connection.
#include <algorithm>
#include <utility>

#include "client/session.h"

namespace turno {

using client::is_integer;
using client::quoted;

namespace {

// What the node says when it refuses: a word in capitals, then text for people.
Error refusal(std::string_view name, const std::string& text, Error::Code otherwise) {
  const auto word = text.substr(0, text.find(' '));
  const bool is_word = word == "ERR" || word == "HELD" || word == "UNAVAILABLE" ||
                       word == "LOADING" || word == "TRYAGAIN";
  if (word == "UNAVAILABLE" || word == "LOADING" || word == "TRYAGAIN")
    otherwise = Error::Code::unavailable;
  const auto rest = is_word && text.size() > word.size() ? text.substr(word.size() + 1) : text;
  return {otherwise, quoted(name) + ": the node refuses: " + rest};
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
      settle(place, refusal(place->name, reply->text, Error::Code::refused));
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
  if (kind == "draining") {
    const Guard guard(mutex_);
    begin_to_move(channel);
    return true;
  }
  if (kind != "granted" && kind != "timeout" && kind != "failed") return true;  // of a newer node
  if (parts.size() < 3 || !is_integer(parts[1])) return false;
  if (kind == "granted" && (parts.size() < 4 || !is_integer(parts[3]))) return false;
  const auto& name = parts[2].text;
  const auto fence = kind == "granted" ? static_cast<std::uint64_t>(parts[3].integer) : 0;
  const Guard guard(mutex_);
  const auto found = channel.places.find(parts[1].integer);
  if (found != channel.places.end() && found->second->name != name) return false;
  const auto place = place_at(channel, parts[1].integer);
  if (place == nullptr) {
    if (kind == "granted") give_back(channel, name, fence);
    return true;
  }
  if (kind == "granted") {
    grant(place, fence);
  } else if (kind == "timeout") {
    settle(place, {Error::Code::timeout, {}});
  } else {
    // The node ends, and nothing was taken there.
    strand(place, leaves(channel), false);
    retire(channel, leaves(channel));
  }
  return true;
}

bool Client::Session::on_lost(Channel& channel, const Reply& push) {
  const auto& parts = push.elements;
  if (parts.size() < 3 || !is_integer(parts[2])) return false;
  const auto fence = static_cast<std::uint64_t>(parts[2].integer);
  Lost lost;
  {
    const Guard guard(mutex_);
    const auto found = names_.find(parts[1].text);
    if (found == names_.end()) return true;
    auto* held = found->second.held;
    if (held == nullptr || held->fence != fence || held->channel.get() != &channel)
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
    moved_.notify_all();
    for (const auto& place : asking) strand(place, text, true);
    for (const auto& [_, place] : places) strand(place, text, true);
  }
  for (auto& stop : lost) stop.request_stop();
}

}  // namespace turno

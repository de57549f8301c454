// Which node is asked: the first that answers, of those that are known.
#include <algorithm>
#include <thread>
#include <utility>

#include "client/holder.h"
#include "client/session.h"

namespace turno {

namespace {

using std::chrono::milliseconds;

// A stopped node lets others connect and says nothing: the first time it is not waited for long.
constexpr milliseconds first_patience{500}, least_patience{20}, longest_patience{2000};

milliseconds left_until(client::Clock::time_point limit) {
  return std::chrono::ceil<milliseconds>(limit - client::Clock::now());
}

// One for all addresses: the worst of them decides what kind of failure it is.
Error summary(const std::vector<Error>& failures) {
  if (failures.empty()) return {Error::Code::unavailable, "there was no time to look for a node"};
  Error error{Error::Code::unavailable, failures.front().message};
  if (std::all_of(failures.begin(), failures.end(),
                  [](const Error& each) { return each.code == Error::Code::refused; }))
    error.code = Error::Code::refused;
  if (failures.size() == 1) return error;
  error.message = "none of " + std::to_string(failures.size()) + " nodes can be used:";
  for (const auto& each : failures) error.message += "\n  " + each.message;
  return error;
}

}  // namespace

tl::expected<void, Error> Client::Session::reach(Guard& guard, Clock::time_point limit,
                                                 const std::stop_token& stop, bool persists) {
  while (!current_ && reaching_) {
    if (stop.stop_requested())
      return tl::unexpected(Error{Error::Code::cancelled, "the wait was cancelled"});
    if (reached_.wait_until(guard, limit) == std::cv_status::timeout && !current_) {
      Error error{Error::Code::unavailable, "no node answers in time at"};
      for (const auto& known : addresses_.in_order()) error.message += " " + known.address.text();
      return tl::unexpected(std::move(error));
    }
  }
  if (current_) return {};
  reaching_ = true;
  guard.unlock();
  sweep();
  auto channel = try_all(limit, stop, persists);
  guard.lock();
  reaching_ = false;
  reached_.notify_all();
  if (!channel) return tl::unexpected(std::move(channel.error()));
  if (adopt(*channel)) return {};
  return tl::unexpected(
      Error{Error::Code::unavailable,
            "the node at " + (*channel)->address.text() + " closed the connection at once"});
}

// New requests go there, if there is nobody else for them.
bool Client::Session::adopt(const ChannelPointer& channel) {
  channels_.push_back(channel);
  // It may have broken already: then on_closed() did not know it yet.
  channel->over = channel->connection->closed();
  if (channel->over) return false;
  if (!current_) {
    current_ = channel;
    identity_ = channel->identity;
  }
  return true;
}

tl::expected<Client::Session::ChannelPointer, Error> Client::Session::try_all(
    Clock::time_point limit, const std::stop_token& stop, bool persists) {
  std::vector<Error> failures;
  auto pause = milliseconds(20);
  for (int round = 0;; ++round) {
    const auto order = [this] {
      const Guard guard(mutex_);
      return addresses_.in_order();
    }();
    // With one address there is nothing to hurry for.
    const auto share = left_until(limit) / (2 * static_cast<int>(order.size()));
    auto patience = std::clamp(share, least_patience, first_patience) * (1 << std::min(round, 6));
    patience = order.size() == 1 ? std::max(left_until(limit), least_patience)
                                 : std::min(patience, longest_patience);
    std::vector<Error> found;
    bool hope = persists;
    for (const auto& known : order) {
      const auto left = left_until(limit);
      if (stop.stop_requested() || (left.count() <= 0 && !failures.empty())) break;
      auto channel = open_channel(known, std::clamp(left, least_patience, patience));
      if (channel) return channel;
      hope = hope || channel.error().code == Error::Code::timeout;
      found.push_back(std::move(channel.error()));
    }
    if (found.size() >= failures.size()) failures = std::move(found);
    hope = find_nodes() || hope;
    if (stop.stop_requested())
      return tl::unexpected(Error{Error::Code::cancelled, "the wait was cancelled"});
    if (!hope || left_until(limit).count() <= 0) return tl::unexpected(summary(failures));
    // Where nobody listens, the answer comes at once.
    std::this_thread::sleep_for(std::min(pause, std::max(left_until(limit), milliseconds(1))));
    pause = std::min(pause * 2, milliseconds(200));
  }
}

// Whether there are nodes that were not known.
bool Client::Session::find_nodes() {
  if (!options_.find_nodes) return false;
  bool found = false;
  for (const auto& text : options_.find_nodes())
    if (const auto address = client::parse_node_address(text)) {
      const Guard guard(mutex_);
      found = addresses_.add(*address) || found;
    }
  return found;
}

tl::expected<Client::Session::ChannelPointer, Error> Client::Session::open_channel(
    const client::Addresses::Known& known, milliseconds patience) {
  const auto limit = Clock::now() + patience;
  auto channel = std::make_shared<Channel>();
  channel->address = known.address;
  auto made = client::Connection::open(
      known.address, {.name = options_.name, .connect_timeout = patience},
      {.push = [this, raw = channel.get()](Reply& push) { return on_push(*raw, push); },
       .closed = [this, raw = channel.get()](const std::string& why) { on_closed(*raw, why); }});
  if (!made) return tl::unexpected(std::move(made.error()));
  const auto fail = [&](Error::Code code, const std::string& why) {
    return tl::unexpected(Error{code, "the node at " + known.address.text() + " " + why});
  };
  auto& connection = **made;
  {
    const Guard guard(mutex_);
    channel->connection = std::move(*made);
    const auto draining = channel->identity.draining;  // it may have said so meanwhile
    channel->identity = client::identity_from(connection.hello());
    channel->identity.draining |= draining;
  }
  if (channel->identity.draining) return fail(Error::Code::timeout, "is about to leave");
  // An older node does not know what that is.
  connection.add({"CLIENT", "CAPA", "move"}, [](Reply*) { return true; });
  const auto reply = connection.call({"MEMBERS"}, std::max(left_until(limit), least_patience));
  if (!reply) return fail(Error::Code::timeout, "greeted and said no more");
  const auto members = client::members_from(*reply);
  const Guard guard(mutex_);
  if (!known.given && !known.address.is_local() && !addresses_.same_cluster(members))
    return fail(Error::Code::refused, "belongs to another cluster");
  if (options_.learn_members) addresses_.learn(members, known.address);
  return channel;
}

// Elsewhere than in the threads of the channels, which are waited for.
void Client::Session::sweep() {
  std::vector<ChannelPointer> gone;  // end after the guard
  const Guard guard(mutex_);
  const auto is_used = [](const ChannelPointer& each) {
    return !each->over || each.use_count() > 1;
  };
  const auto first = std::stable_partition(channels_.begin(), channels_.end(), is_used);
  std::move(first, channels_.end(), std::back_inserter(gone));
  channels_.erase(first, channels_.end());
}

void Client::Session::retire(Channel& channel, const std::string& reason) {
  if (current_.get() == &channel) current_.reset();
  addresses_.postpone(channel.address);
  std::vector<PlacePointer> places(channel.asking.begin(), channel.asking.end());
  for (const auto& [_, place] : channel.places) places.push_back(place);
  for (const auto& place : places) {
    const auto attempt = place->attempt;
    if (attempt == nullptr || attempt->withdrawn) continue;
    cancel(place);
    strand(place, reason, true);
  }
  end_if_idle(channel);
}

void Client::Session::end_if_idle(Channel& channel) {
  if (current_.get() != &channel && channel.holds == 0 && !channel.over) channel.connection->end();
}

// A node that was asked for a sign of life and gave none for as long as `patience` is silent.
std::optional<client::Clock::time_point> Client::Session::watch(Channel& channel,
                                                                milliseconds patience) {
  const auto now = Clock::now();
  const auto heard = channel.connection->heard();
  auto& asked = channel.asked_for_life;
  if (channel.is_alive()) asked.reset();
  const auto interval = std::min(milliseconds(1000), patience / 2);
  if (!asked) {
    if (now < heard + interval) return heard + interval;
    asked = now;
    channel.connection->send({"PING"}, [](Reply*) { return true; });
  }
  // The node asks others to answer these, and keeps other answers back meanwhile.
  const auto limit = *asked + patience + channel.slow_questions * milliseconds(1500);
  if (now >= limit) return std::nullopt;
  return limit;
}

}  // namespace turno

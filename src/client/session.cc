#include "client/session.h"

#include <algorithm>
#include <random>
#include <utility>

#include "client/holder.h"
#include "core/assert.h"

namespace turno {

using client::milliseconds;
using client::quoted;

namespace {

constexpr std::size_t longest_name = wire::RequestParser::max_argument;
// Longer is for ever: a node counts no further.
constexpr auto longest_timeout = std::chrono::hours(24 * 365);

}  // namespace

namespace client {

std::string quoted(std::string_view name, Thing thing) {
  return std::string(client::name(thing)) + " '" + std::string(name) + "'";
}

std::string milliseconds(std::chrono::milliseconds time) { return std::to_string(time.count()); }

}  // namespace client

Client::Session::Session(const std::vector<net::Address>& addresses, Client::Options options)
    : options_(std::move(options)), addresses_(addresses, std::random_device()()) {}

Client::Session::~Session() {
  std::vector<ChannelPointer> channels;
  Guard guard(mutex_);
  ending_ = true;
  moved_.notify_all();
  guard.unlock();
  if (mover_.joinable()) mover_.join();
  guard.lock();
  current_.reset();
  channels.swap(channels_);
  // They end after the guard: their threads may be waiting for it.
}

tl::expected<void, Error> Client::Session::connect() {
  Guard guard(mutex_);
  return reach(guard, Clock::now() + options_.connect_timeout, {}, false);
}

Client::Identity Client::Session::identity() {
  const Guard guard(mutex_);
  return identity_;
}

void Client::Session::say(const std::string& text) const {
  if (options_.notice) options_.notice(text);
}

tl::expected<Client::Session::Named*, Error> Client::Session::open(std::string_view name,
                                                                   client::Thing thing) {
  const auto what =
      (thing == client::Thing::election ? "an " : "a ") + std::string(client::name(thing));
  if (name.empty()) return tl::unexpected(Error{Error::Code::invalid, what + " needs a name"});
  if (name.size() > longest_name)
    return tl::unexpected(Error{Error::Code::invalid, "the name of " + what + " has at most " +
                                                          std::to_string(longest_name) + " bytes"});
  const Guard guard(mutex_);
  // Each grant of a semaphore or a room stands for itself.
  auto key = std::string(client::name(thing)) + " " +
             (client::several_have(thing) ? std::to_string(++several_) : std::string(name));
  auto found = names_.find(key);
  if (found == names_.end()) {
    found = names_.try_emplace(key).first;
    found->second.name = name;
    found->second.key = std::move(key);
    found->second.thing = thing;
  }
  ++found->second.users;
  return &found->second;
}

void Client::Session::close(Named* lock) {
  const Guard guard(mutex_);
  stop_using(*lock);
}

void Client::Session::stop_using(Named& lock) {
  TURNO_ASSERT(lock.users > 0);
  if (--lock.users > 0) return;
  TURNO_ASSERT(lock.held == nullptr && !lock.asked && lock.queued.empty());
  names_.erase(names_.find(lock.key));
}

tl::expected<Client::Session::Held*, Error> Client::Session::acquire(Named& lock,
                                                                     const Request& request,
                                                                     const std::stop_token& stop) {
  if (request.timeout.value_or(std::chrono::milliseconds(0)).count() < 0)
    return tl::unexpected(Error{Error::Code::invalid, "a timeout is not negative"});
  if (request.ttl.value_or(std::chrono::milliseconds(1)).count() <= 0)
    return tl::unexpected(Error{Error::Code::invalid, "a time to live is more than 0 ms"});
  if (stop.stop_requested())
    return tl::unexpected(Error{Error::Code::cancelled, quoted(lock) + ": the wait was cancelled"});
  auto bounded = request;
  if (request.timeout > longest_timeout) bounded.timeout.reset();

  const auto attempt = std::make_shared<Attempt>(lock, bounded);
  // Before the guard: it takes the mutex, and its end waits for it.
  const std::stop_callback wake(stop, [this, attempt] {
    const Guard guard(mutex_);
    attempt->ready.notify_one();
    reached_.notify_all();
  });
  Guard guard(mutex_);
  const bool taken_here = lock.held != nullptr || lock.asked;
  if (taken_here && attempt->tries_once())
    return tl::unexpected(
        Error{Error::Code::timeout, quoted(lock) + " is taken by another thread of this program"});
  ++lock.users;
  lock.queued.push_back(attempt);
  ask_next(lock);
  const auto name = lock.name;
  const auto thing = lock.thing;
  auto result = wait(guard, attempt, stop);
  ChannelPointer channel;
  if (result) channel = (*result)->channel;
  guard.unlock();
  if (result && options_.held_by) options_.held_by(channel->connection->descriptor());
  if (!result && result.error().code == Error::Code::timeout && !result.error().perhaps_taken &&
      attempt->deadline && !attempt->tries_once())
    result.error().message += holder_of(name, thing, *attempt->deadline + client::longest_excess);
  return result;
}

std::string Client::Session::holder_of(const std::string& name, client::Thing thing,
                                       Clock::time_point limit) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(limit - Clock::now());
  if (left <= left.zero()) return {};
  const auto reply =
      call({"WHO", name, client::name(thing)}, std::min(options_.answer_timeout, left));
  if (!reply) return {};
  const auto holder = client::holder_from(*reply);
  if (!holder && holder.error().code == Error::Code::unavailable)
    return "; " + holder.error().message;
  if (!holder || !*holder) return {};
  return "; " + client::describe(**holder);
}

void Client::Session::release(Held* held) {
  const std::unique_ptr<Held> owner(held);
  const Guard guard(mutex_);
  auto& lock = *held->lock;
  auto& channel = *held->channel;
  if (lock.held == held) lock.held = nullptr;
  --channel.holds;
  const client::Bequest::Release ended{lock.name, held->fence, lock.thing};
  held->lost ? unlock(channel, ended) : give_back(channel, ended);  // lost: "I have stopped"
  end_if_idle(channel);
  ask_next(lock);
  stop_using(lock);
}

void Client::Session::lose(Held& held, std::string reason, Lost& lost) {
  held.lost = true;
  held.reason = std::move(reason);
  held.lock->held = nullptr;
  lost.push_back(held.stop);
  ask_next(*held.lock);
}

void Client::Session::catch_up(std::chrono::milliseconds longest) {
  std::vector<ChannelPointer> channels;
  {
    const Guard guard(mutex_);
    for (const auto& channel : channels_)
      if (channel->holds > 0 && !channel->over) channels.push_back(channel);
  }
  // What comes before the answer is known before it. One that does not answer is silent.
  const auto limit = Clock::now() + longest;
  for (const auto& channel : channels) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now());
    (void)channel->connection->call({"PING"}, std::max(left, std::chrono::milliseconds(1)));
  }
}

tl::expected<net::Address, Error> Client::Session::find_node(
    const std::optional<net::Address>& silent, const std::stop_token& stop) {
  Guard guard(mutex_);
  if (silent && current_ && current_->address == *silent)
    retire(*current_, "the node at " + silent->text() + " does not answer");
  if (auto reached = reach(guard, Clock::now() + options_.connect_timeout, stop, false); !reached)
    return tl::unexpected(std::move(reached.error()));
  if (current_) return current_->address;
  return tl::unexpected(Error{Error::Code::disconnected, "the connection has just broken"});
}

tl::expected<void, Error> Client::Session::renew(Held& held, std::chrono::milliseconds ttl) {
  if (ttl.count() <= 0)
    return tl::unexpected(Error{Error::Code::invalid, "a time to live is more than 0 ms"});
  ChannelPointer channel;
  std::string name, quoted;
  std::string_view thing;
  {
    Guard guard(mutex_);
    name = held.lock->name;
    quoted = client::quoted(*held.lock);
    thing = client::name(held.lock->thing);
    // While it is handed over, neither node is the right one to ask.
    moved_.wait_until(guard, Clock::now() + options_.answer_timeout,
                      [&] { return held.lost || !held.channel->bequest; });
    if (held.lost)
      return tl::unexpected(Error{Error::Code::lost, quoted + " was lost: " + held.reason});
    if (held.channel->bequest)
      return tl::unexpected(
          Error{Error::Code::unavailable, quoted + " is being moved to another node"});
    channel = held.channel;
  }
  const auto time = milliseconds(ttl);
  const auto fence = std::to_string(held.fence);
  const auto reply =
      channel->connection->call({"RENEW", name, time, fence, thing}, options_.answer_timeout);
  if (!reply) return tl::unexpected(reply.error());
  if (reply->is_error())
    return tl::unexpected(Error{Error::Code::refused, quoted + ": " + reply->text});
  if (client::is_integer(*reply) && reply->integer == 1) return {};
  Lost lost;
  {
    const Guard guard(mutex_);
    // It has moved since: it is renewed there the next time.
    if (held.channel != channel || channel->bequest)
      return tl::unexpected(Error{Error::Code::unavailable, quoted + " was moved to another node"});
    if (!held.lost) lose(held, "it was renewed too late", lost);
  }
  for (auto& stop : lost) stop.request_stop();
  return tl::unexpected(Error{Error::Code::lost, quoted + " was lost: it was renewed too late"});
}

std::vector<std::string> Client::Session::addresses() {
  const Guard guard(mutex_);
  std::vector<std::string> all;
  if (current_) all.push_back(current_->address.text());
  for (const auto& known : addresses_.in_order())
    if (!current_ || known.address != current_->address) all.push_back(known.address.text());
  return all;
}

tl::expected<wire::Reply, Error> Client::Session::call(
    const client::Connection::Arguments& arguments,
    std::optional<std::chrono::milliseconds> longest) {
  const auto began = Clock::now();
  ChannelPointer channel;
  {
    Guard guard(mutex_);
    if (auto reached = reach(guard, began + longest.value_or(options_.connect_timeout), {}, false);
        !reached)
      return tl::unexpected(std::move(reached.error()));
    channel = current_;
    if (channel) ++channel->slow_questions;
  }
  if (!channel)
    return tl::unexpected(
        Error{Error::Code::disconnected, "the connection has just broken; try again"});
  auto timeout = options_.answer_timeout;
  if (longest)
    timeout =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(began + *longest - Clock::now()),
                 std::chrono::milliseconds(1));
  auto reply = channel->connection->call(arguments, timeout);
  const Guard guard(mutex_);
  --channel->slow_questions;
  return reply;
}

}  // namespace turno

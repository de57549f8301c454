#include "client/observation.h"

#include <utility>

#include "client/holder.h"

namespace turno::client {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds pause{100};

std::uint64_t term_in(const wire::Reply& reply) {
  return reply.integer < 0 ? 0 : static_cast<std::uint64_t>(reply.integer);
}

}  // namespace

ElectionObserver::ElectionObserver(std::string election, Service::LeaderChanged changed,
                                   FindNode find_node, Options options)
    : election_(std::move(election)),
      changed_(std::move(changed)),
      find_node_(std::move(find_node)),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

ElectionObserver::~ElectionObserver() = default;

tl::expected<void, Error> ElectionObserver::wait(milliseconds longest) {
  std::unique_lock guard(mutex_);
  if (wake_.wait_for(guard, longest, [&] { return known_ || error_.code == Error::Code::refused; }))
    if (known_) return {};
  return tl::unexpected(error_);
}

void ElectionObserver::run(const std::stop_token& stop) {
  std::optional<net::Address> silent;
  while (!stop.stop_requested()) {
    auto address = find_node_(silent, stop);
    silent.reset();
    if (address && listen(*address, stop)) silent = *address;
    if (!address) fail(std::move(address.error()));
    std::unique_lock guard(mutex_);
    wake_.wait_for(guard, stop, pause, [] { return false; });
  }
}

bool ElectionObserver::listen(const net::Address& address, const std::stop_token& stop) {
  {
    const std::scoped_lock guard(mutex_);
    broken_ = false;
  }
  const auto give_up = [this] {
    const std::scoped_lock guard(mutex_);
    broken_ = true;
    wake_.notify_all();
  };
  auto opened =
      Connection::open(address, {.name = options_.name, .connect_timeout = options_.answer_timeout},
                       {.push =
                            [this, give_up](wire::Reply& push) {
                              if (!push.elements.empty() && push.elements[0].text == "draining")
                                give_up();
                              return on_push(push);
                            },
                        .closed = [give_up](const std::string&) { give_up(); }});
  if (!opened) {
    const bool silent = opened.error().code == Error::Code::timeout;
    fail(std::move(opened.error()));
    return silent;
  }
  auto& connection = **opened;
  connection.send({"OBSERVE", election_}, [this, &connection](wire::Reply* reply) {
    return on_observed(reply, connection);
  });
  for (;;) {
    std::unique_lock guard(mutex_);
    wake_.wait_for(guard, stop, options_.answer_timeout / 2, [&] { return broken_; });
    if (broken_ || stop.stop_requested()) return false;
    guard.unlock();
    const auto answer = connection.call({"PING"}, options_.answer_timeout);
    if (!answer && answer.error().code == Error::Code::timeout) return true;
  }
}

// Whether nobody leads, or the node has not heard of it yet, all must be asked.
bool ElectionObserver::on_observed(wire::Reply* reply, Connection& connection) {
  if (reply == nullptr) return true;
  if (reply->is_error() || reply->elements.size() != 1) {
    fail({Error::Code::refused, "election '" + election_ + "': " + reply->text});
    return false;
  }
  const auto take = [this](const wire::Reply& known) {
    auto leader = leader_from(known);
    if (!leader || !*leader) return false;
    const auto term = (*leader)->term;
    hear(term, std::move(*leader));
    return true;
  };
  if (take(reply->elements[0])) return true;
  connection.send({"LEADER", election_}, [this, take](wire::Reply* all) {
    if (all == nullptr || take(*all)) return true;
    // Somebody may lead at a node that does not answer.
    if (all->is_error()) {
      fail({Error::Code::unavailable, "election '" + election_ + "': " + all->text});
      return true;
    }
    hear(term_, std::nullopt);
    return true;
  });
  return true;
}

bool ElectionObserver::on_push(const wire::Reply& push) {
  const auto& parts = push.elements;
  if (parts.size() < 3 || parts[1].text != election_) return true;
  if (parts[0].text == "nobody") hear(term_in(parts[2]), std::nullopt);
  if (parts[0].text == "leader" && parts.size() >= 6)
    hear(term_in(parts[2]), Leader{.term = term_in(parts[2]),
                                   .value = parts[3].text,
                                   .node = parts[4].text,
                                   .client = parts[5].text});
  return true;
}

// A node may have heard less than the one that was asked before.
void ElectionObserver::hear(std::uint64_t term, std::optional<Leader> leader) {
  if (term < term_) return;
  if (std::exchange(told_, true) && leader == leader_) return;
  term_ = term;
  leader_ = std::move(leader);
  changed_(leader_);
  const std::scoped_lock guard(mutex_);
  known_ = true;
  wake_.notify_all();
}

void ElectionObserver::fail(Error error) {
  const std::scoped_lock guard(mutex_);
  error_ = std::move(error);
  wake_.notify_all();
}

}  // namespace turno::client

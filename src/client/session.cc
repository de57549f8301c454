#include "client/session.h"

#include <algorithm>
#include <utility>

#include "client/holder.h"
#include "core/assert.h"

namespace turno {

namespace {

constexpr std::size_t longest_name = wire::RequestParser::max_argument;
// Longer is for ever: a node counts no further.
constexpr auto longest_timeout = std::chrono::hours(24 * 365);

bool is_integer(const wire::Reply& reply) { return reply.kind == wire::Reply::Kind::integer; }

std::string quoted(std::string_view name) { return "lock '" + std::string(name) + "'"; }

std::string milliseconds(std::chrono::milliseconds time) { return std::to_string(time.count()); }

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

}  // namespace

struct Client::Session::Attempt {
  enum class State : std::uint8_t { queued, asked, done };

  Attempt(Named& lock_, const Request& request_) : lock(lock_), request(request_) {
    if (request.timeout) deadline = Clock::now() + *request.timeout;
  }

  Named& lock;  // valid until done
  const Request request;
  std::optional<Clock::time_point> deadline;
  State state = State::queued;
  std::optional<std::int64_t> ticket;
  bool withdrawn = false;  // nobody wants it any more
  Held* held = nullptr;    // when done; or else the error
  Error error;
  std::condition_variable ready;
};

Client::Session::Session(net::Address address, Client::Options options)
    : address_(std::move(address)), options_(std::move(options)) {}

Client::Session::~Session() {
  std::shared_ptr<client::Connection> connection, broken;
  const Guard guard(mutex_);
  connection.swap(connection_);
  broken.swap(broken_);
  // They end after the guard: their threads may be waiting for it.
}

tl::expected<void, Error> Client::Session::connect() {
  const std::scoped_lock one_at_a_time(connecting_);
  std::shared_ptr<client::Connection> broken;  // ends after the guard
  {
    const Guard guard(mutex_);
    if (connection_) return {};
    broken.swap(broken_);
  }
  auto made = client::Connection::open(
      address_, {.name = options_.name, .connect_timeout = options_.connect_timeout},
      {.push = [this](Reply& push) { return on_push(push); },
       .closed = [this](const std::string& reason) { on_closed(reason); }});
  if (!made) return tl::unexpected(std::move(made.error()));
  const Guard guard(mutex_);
  // It may have broken already, and on_closed() did not know it yet.
  if ((*made)->closed())
    return tl::unexpected(Error{Error::Code::unavailable, "the node at " + address_.text() +
                                                              " closed the connection at once"});
  connection_ = std::move(*made);
  identity_ = client::identity_from(connection_->hello());
  return {};
}

Client::Identity Client::Session::identity() {
  const Guard guard(mutex_);
  return identity_;
}

tl::expected<Client::Session::Named*, Error> Client::Session::open(std::string_view name) {
  if (name.empty()) return tl::unexpected(Error{Error::Code::invalid, "a lock needs a name"});
  if (name.size() > longest_name)
    return tl::unexpected(Error{Error::Code::invalid, "the name of a lock has at most " +
                                                          std::to_string(longest_name) + " bytes"});
  const Guard guard(mutex_);
  auto found = names_.find(name);
  if (found == names_.end()) {
    found = names_.try_emplace(std::string(name)).first;
    found->second.name = name;
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
  names_.erase(names_.find(lock.name));
}

tl::expected<Client::Session::Held*, Error> Client::Session::acquire(Named& lock,
                                                                     const Request& request,
                                                                     const std::stop_token& stop) {
  if (request.timeout.value_or(std::chrono::milliseconds(0)).count() < 0)
    return tl::unexpected(Error{Error::Code::invalid, "a timeout is not negative"});
  if (request.ttl.value_or(std::chrono::milliseconds(1)).count() <= 0)
    return tl::unexpected(Error{Error::Code::invalid, "a time to live is more than 0 ms"});
  if (stop.stop_requested())
    return tl::unexpected(
        Error{Error::Code::cancelled, quoted(lock.name) + ": the wait was cancelled"});
  auto bounded = request;
  if (request.timeout > longest_timeout) bounded.timeout.reset();

  const auto attempt = std::make_shared<Attempt>(lock, bounded);
  // Before the guard: it takes the mutex, and its end waits for it.
  const std::stop_callback wake(stop, [this, attempt] {
    const Guard guard(mutex_);
    attempt->ready.notify_one();
  });
  Guard guard(mutex_);
  if (!connection_) {
    guard.unlock();
    if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
    guard.lock();
    if (!connection_)
      return tl::unexpected(Error{Error::Code::disconnected,
                                  "the node at " + address_.text() + " has just gone; try again"});
  }
  if (lock.held != nullptr || lock.asked) {
    if (bounded.timeout == std::chrono::milliseconds(0))
      return tl::unexpected(Error{
          Error::Code::timeout, quoted(lock.name) + " is taken by another thread of this program"});
  }
  ++lock.users;
  lock.queued.push_back(attempt);
  ask_next(lock);
  const auto name = lock.name;
  auto result = wait(guard, attempt, stop);
  guard.unlock();
  const bool has_waited = bounded.timeout > std::chrono::milliseconds(0);
  if (!result && result.error().code == Error::Code::timeout && !result.error().perhaps_taken &&
      has_waited)
    result.error().message += holder_of(name);
  return result;
}

std::string Client::Session::holder_of(const std::string& name) {
  const auto reply = call({"WHO", name});
  if (!reply) return {};
  const auto holder = client::holder_from(*reply);
  if (!holder && holder.error().code == Error::Code::unavailable)
    return "; " + holder.error().message;
  if (!holder || !*holder) return {};
  return "; " + client::describe(**holder);
}

tl::expected<Client::Session::Held*, Error> Client::Session::wait(
    Guard& guard, const std::shared_ptr<Attempt>& attempt, const std::stop_token& stop) {
  // The attempt's lock may be gone as soon as it is done.
  const auto what = quoted(attempt->lock.name);
  const Error timeout{
      Error::Code::timeout,
      what + " was not acquired within " +
          milliseconds(attempt->request.timeout.value_or(std::chrono::milliseconds(0))) + " ms"};
  const Error cancelled{Error::Code::cancelled, what + ": the wait was cancelled"};
  std::optional<Clock::time_point> patience;  // when withdrawn: for the node's answer
  while (attempt->state != Attempt::State::done) {
    const bool queued = attempt->state == Attempt::State::queued;
    if (stop.stop_requested() && !attempt->withdrawn) {
      if (queued) {
        leave_queue(attempt);
        return tl::unexpected(cancelled);
      }
      withdraw(attempt);
      patience = Clock::now() + options_.answer_timeout;
    }
    // The node ends the wait in time. If it does not, it is not well.
    auto limit = attempt->deadline;
    if (limit && !queued) *limit += options_.answer_timeout;
    if (patience) limit = patience;
    if (!limit) {
      attempt->ready.wait(guard);
    } else if (Clock::now() < *limit) {
      attempt->ready.wait_until(guard, *limit);
    } else if (queued) {
      leave_queue(attempt);
      return tl::unexpected(timeout);
    } else {
      auto error = attempt->withdrawn ? cancelled : timeout;
      if (!attempt->withdrawn) withdraw(attempt);
      error.message += "; the node does not answer";
      error.perhaps_taken = true;
      return tl::unexpected(std::move(error));
    }
  }
  if (attempt->held != nullptr) return attempt->held;
  if (attempt->withdrawn && attempt->error.code != Error::Code::disconnected)
    return tl::unexpected(cancelled);
  if (attempt->error.code == Error::Code::timeout) return tl::unexpected(timeout);
  return tl::unexpected(attempt->error);
}

void Client::Session::leave_queue(const std::shared_ptr<Attempt>& attempt) {
  auto& lock = attempt->lock;
  std::erase(lock.queued, attempt);
  attempt->state = Attempt::State::done;
  attempt->ready.notify_one();
  stop_using(lock);
}

void Client::Session::ask_next(Named& lock) {
  if (lock.held != nullptr || lock.asked || lock.queued.empty()) return;
  const auto attempt = lock.queued.front();
  lock.queued.pop_front();
  lock.asked = attempt;
  attempt->state = Attempt::State::asked;

  std::string timeout, ttl;
  client::Connection::Arguments arguments{"LOCK", lock.name, "ASYNC"};
  if (attempt->deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*attempt->deadline - Clock::now());
    const bool tries_once = attempt->request.timeout->count() == 0;
    timeout = milliseconds(std::max(left, std::chrono::milliseconds(tries_once ? 0 : 1)));
    arguments.insert(arguments.end(), {"TIMEOUT", timeout});
  }
  if (attempt->request.ttl) {
    ttl = milliseconds(*attempt->request.ttl);
    arguments.insert(arguments.end(), {"TTL", ttl});
  }
  // If the connection is over, on_closed() is about to end the attempt.
  connection_->send(arguments, [this, attempt](Reply* reply) { return on_ticket(attempt, reply); });
}

// The attempt ends when the node answers, be it with a grant that came first.
void Client::Session::withdraw(const std::shared_ptr<Attempt>& attempt) {
  attempt->withdrawn = true;
  if (!attempt->ticket) return;  // on_ticket() will do it
  const auto ticket = std::to_string(*attempt->ticket);
  connection_->send({"CANCEL", ticket},
                    [this, attempt](Reply* reply) { return on_cancelled(attempt, reply); });
}

void Client::Session::give_back(std::string_view name, std::uint64_t fence) {
  if (!connection_) return;
  const auto number = std::to_string(fence);
  connection_->send({"UNLOCK", name, number}, [](Reply*) { return true; });
}

void Client::Session::grant(Attempt& attempt, std::uint64_t fence) {
  auto& lock = attempt.lock;
  if (attempt.withdrawn) {
    give_back(lock.name, fence);
    return fail(attempt, {Error::Code::cancelled, {}});
  }
  attempt.held = new Held{.lock = &lock, .fence = fence};
  attempt.state = Attempt::State::done;
  lock.held = attempt.held;
  attempt.ready.notify_one();
  lock.asked.reset();  // its use of the lock becomes the holder's
}

void Client::Session::fail(Attempt& attempt, Error error) {
  auto& lock = attempt.lock;
  const auto alive = std::exchange(lock.asked, nullptr);
  attempt.error = std::move(error);
  attempt.state = Attempt::State::done;
  attempt.ready.notify_one();
  if (connection_) ask_next(lock);
  stop_using(lock);
}

void Client::Session::lose(Held& held, std::string reason, Lost& lost) {
  held.lost = true;
  held.reason = std::move(reason);
  held.lock->held = nullptr;
  lost.push_back(held.stop);
  if (connection_) ask_next(*held.lock);
}

void Client::Session::release(Held* held) {
  const std::unique_ptr<Held> owner(held);
  const Guard guard(mutex_);
  auto& lock = *held->lock;
  if (lock.held == held) {
    lock.held = nullptr;
    give_back(lock.name, held->fence);
    ask_next(lock);
  }
  stop_using(lock);
}

tl::expected<void, Error> Client::Session::renew(Held& held, std::chrono::milliseconds ttl) {
  if (ttl.count() <= 0)
    return tl::unexpected(Error{Error::Code::invalid, "a time to live is more than 0 ms"});
  std::shared_ptr<client::Connection> connection;
  std::string name;
  {
    const Guard guard(mutex_);
    name = held.lock->name;
    if (held.lost)
      return tl::unexpected(Error{Error::Code::lost, quoted(name) + " was lost: " + held.reason});
    connection = connection_;
  }
  const auto time = milliseconds(ttl);
  const auto fence = std::to_string(held.fence);
  const auto reply = connection->call({"RENEW", name, time, fence}, options_.answer_timeout);
  if (!reply) return tl::unexpected(reply.error());
  if (reply->is_error()) return tl::unexpected(refusal(name, reply->text, Error::Code::refused));
  if (is_integer(*reply) && reply->integer == 1) return {};
  Lost lost;
  {
    const Guard guard(mutex_);
    if (!held.lost) lose(held, "it was renewed too late", lost);
  }
  for (auto& stop : lost) stop.request_stop();
  return tl::unexpected(
      Error{Error::Code::lost, quoted(name) + " was lost: it was renewed too late"});
}

tl::expected<wire::Reply, Error> Client::Session::call(
    const client::Connection::Arguments& arguments) {
  if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
  std::shared_ptr<client::Connection> connection;
  {
    const Guard guard(mutex_);
    connection = connection_;
  }
  if (!connection)
    return tl::unexpected(Error{Error::Code::disconnected,
                                "the node at " + address_.text() + " has just gone; try again"});
  return connection->call(arguments, options_.answer_timeout);
}

std::shared_ptr<Client::Session::Attempt> Client::Session::attempt_of(std::int64_t ticket) {
  const auto found = tickets_.find(ticket);
  if (found == tickets_.end()) return nullptr;
  auto attempt = std::move(found->second);
  tickets_.erase(found);
  return attempt;
}

bool Client::Session::on_ticket(const std::shared_ptr<Attempt>& attempt, Reply* reply) {
  if (reply == nullptr) return true;  // on_closed() follows
  const Guard guard(mutex_);
  if (reply->is_error()) {
    fail(*attempt, refusal(attempt->lock.name, reply->text, Error::Code::refused));
    return true;
  }
  if (!is_integer(*reply) || !tickets_.emplace(reply->integer, attempt).second) return false;
  attempt->ticket = reply->integer;
  if (attempt->withdrawn) withdraw(attempt);
  return true;
}

bool Client::Session::on_cancelled(const std::shared_ptr<Attempt>& attempt, Reply* reply) {
  if (reply == nullptr) return true;
  if (!is_integer(*reply)) return false;
  if (reply->integer == 0) return true;  // too late: a push has come or will
  const Guard guard(mutex_);
  if (attempt_of(*attempt->ticket) == nullptr) return false;  // it has been answered already
  fail(*attempt, {Error::Code::cancelled, {}});
  return true;
}

bool Client::Session::on_push(Reply& push) {
  const auto& parts = push.elements;
  if (parts.empty()) return false;
  const auto& kind = parts[0].text;
  const auto integer_at = [&](std::size_t at) {
    return at < parts.size() && is_integer(parts[at]);
  };

  if (kind == "lost") {
    if (!integer_at(2)) return false;
    const auto fence = static_cast<std::uint64_t>(parts[2].integer);
    Lost lost;
    {
      const Guard guard(mutex_);
      const auto found = names_.find(parts[1].text);
      if (found == names_.end() || found->second.held == nullptr ||
          found->second.held->fence != fence)
        return true;  // it was released while the news was on its way
      lose(*found->second.held, parts.size() > 3 ? parts[3].text : "the node took it back", lost);
    }
    for (auto& stop : lost) stop.request_stop();
    return true;
  }

  if (kind != "granted" && kind != "timeout" && kind != "failed") return true;  // of a newer node
  if (!integer_at(1) || parts.size() < 3) return false;
  if (kind == "granted" && !integer_at(3)) return false;
  const Guard guard(mutex_);
  const auto attempt = attempt_of(parts[1].integer);
  if (attempt == nullptr) {
    if (kind == "granted") give_back(parts[2].text, static_cast<std::uint64_t>(parts[3].integer));
    return true;
  }
  if (attempt->lock.name != parts[2].text) return false;
  if (kind == "granted") {
    grant(*attempt, static_cast<std::uint64_t>(parts[3].integer));
  } else if (kind == "timeout") {
    fail(*attempt, {Error::Code::timeout, {}});
  } else {
    const auto& text = parts.size() > 3 ? parts[3].text : std::string();
    fail(*attempt, refusal(attempt->lock.name, text, Error::Code::unavailable));
  }
  return true;
}

void Client::Session::on_closed(const std::string& reason) {
  Lost lost;
  {
    const Guard guard(mutex_);
    if (!connection_) return;  // it was never used, or the session itself ends
    broken_ = std::move(connection_);
    connection_.reset();
    tickets_.clear();
    const Error error{Error::Code::disconnected,
                      "the connection to the node at " + address_.text() + " broke: " + reason};
    for (auto next = names_.begin(); next != names_.end();) {
      auto& lock = (next++)->second;  // failing its last attempt erases it
      if (lock.held != nullptr) lose(*lock.held, error.message, lost);
      ++lock.users;
      while (!lock.queued.empty()) {
        const auto attempt = lock.queued.front();
        attempt->error = error;
        leave_queue(attempt);
      }
      auto asked = error;
      asked.perhaps_taken = true;
      if (lock.asked) fail(*lock.asked, asked);
      stop_using(lock);
    }
  }
  for (auto& stop : lost) stop.request_stop();
}

}  // namespace turno

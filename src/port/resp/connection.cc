#include "port/resp/connection.h"

#include <utility>

#include "net/log.h"
#include "net/socket.h"

namespace turno::port {

namespace {

constexpr std::size_t read_size = std::size_t{16} << 10;
constexpr std::size_t most_unread = std::size_t{256} << 10;  // bytes of a client that does not read

}  // namespace

Connection::Connection(Clients& clients, net::Fd socket, Session& session)
    : Stream(clients.host().loop(), std::move(socket)),
      clients_(clients),
      session_(&session),
      id_(session.id()),
      from_(net::peer_of(this->socket())),
      reply_(out(), 2) {
  session.set_name(from_);
  session.join(*this);
}

Connection::~Connection() {
  *alive_ = false;
  session_->leave(*this);
  clients_.left(*session_);
}

void Connection::readable() {
  const auto room = parser_.prepare(read_size);
  const auto size = receive(room);
  if (ended()) return closed("closed by the client");
  parser_.commit(size);
  work();
}

void Connection::closed(std::string_view reason) {
  log::debug("client {} ({}): {}", session_->name(), from_, reason);
  clients_.remove(*this);
}

void Connection::work() {
  if (working_) return;
  working_ = true;
  // A client that does not read its replies is answered again when it does.
  bool more = true;
  while (more && !waiting_ && !quitting_ && unwritten() < most_unread) {
    more = execute_next();
    if (!more || unwritten() >= most_unread) flush();
  }
  working_ = false;
  flush();
  // While a reply is awaited, or not read, no more is read than a little.
  pause_reading(quitting_ ||
                ((waiting_ || unwritten() >= most_unread) && parser_.pending() > read_size));
  if (quitting_ && unwritten() == 0) closed("it was told goodbye");
}

// False: there is no whole command.
bool Connection::execute_next() {
  const auto status = parser_.next();
  if (status == wire::Status::more) return false;
  if (status == wire::Status::error) {
    log::warning("client {} ({}): {}", session_->name(), from_, parser_.error());
    reply_.error("ERR", parser_.error());
    quitting_ = true;
    return false;
  }
  clients_.count_command();
  execute(*this, parser_.arguments());
  return true;
}

void Connection::writable() {
  flush();
  if (is_open()) work();
}

void Connection::go_on() {
  waiting_ = false;
  work();
}

void Connection::lock(const Wanted& wanted) {
  using State = Session::Asked::State;
  const auto asked = session_->lock({.name = wanted.name,
                                     .timeout = wanted.timeout,
                                     .ttl = wanted.ttl,
                                     .asker = wanted.async ? nullptr : this});
  switch (asked.state) {
    case State::holds_already:
    case State::waits_already:
      return reply_.error(
          "HELD", "this session " +
                      std::string(asked.state == State::holds_already ? "holds '" : "waits for '") +
                      std::string(wanted.name) + "' already and would wait for itself");
    case State::too_many:
      return reply_.error("ERR", "this session holds or waits for too many locks: at most " +
                                     std::to_string(Session::most_locks));
    case State::waiting:
      if (!wanted.async) return hold_replies();
      return reply_.integer(static_cast<std::int64_t>(asked.ticket));
    case State::granted:
      if (!wanted.async) return reply_.integer(static_cast<std::int64_t>(asked.fence.value));
      break;
    case State::refused:
      if (!wanted.async) return reply_.null();
      break;
  }
  // The ticket comes before the news of it.
  reply_.integer(static_cast<std::int64_t>(asked.ticket));
  session_->announce(
      {.kind = asked.state == State::granted ? News::Kind::granted : News::Kind::timeout,
       .lock = wanted.name,
       .ticket = asked.ticket,
       .fence = asked.fence});
}

void Connection::answer(const News& news) {
  switch (news.kind) {
    case News::Kind::granted:
      reply_.integer(static_cast<std::int64_t>(news.fence.value));
      break;
    case News::Kind::timeout:
      reply_.null();
      break;
    case News::Kind::failed:
    case News::Kind::lost:
      reply_.error("UNAVAILABLE", news.reason);
      break;
  }
  go_on();
}

void Connection::tell(const News& news) {
  // Version 2 has no way to say something unasked.
  if (reply_.protocol() < 3) return;
  push(news);
  if (!working_) flush();
}

void Connection::push(const News& news) {
  const auto fence = static_cast<std::int64_t>(news.fence.value);
  const auto ticket = static_cast<std::int64_t>(news.ticket);
  switch (news.kind) {
    case News::Kind::granted:
      reply_.push(4);
      reply_.bulk("granted");
      reply_.integer(ticket);
      reply_.bulk(news.lock);
      return reply_.integer(fence);
    case News::Kind::timeout:
      reply_.push(3);
      reply_.bulk("timeout");
      reply_.integer(ticket);
      return reply_.bulk(news.lock);
    case News::Kind::failed:
      reply_.push(4);
      reply_.bulk("failed");
      reply_.integer(ticket);
      reply_.bulk(news.lock);
      return reply_.bulk(news.reason);
    case News::Kind::lost:
      reply_.push(4);
      reply_.bulk("lost");
      reply_.bulk(news.lock);
      reply_.integer(fence);
      return reply_.bulk(news.reason);
  }
}

}  // namespace turno::port

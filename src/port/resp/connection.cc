#include "port/resp/connection.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/text/json.h"
#include "net/credentials.h"
#include "net/log.h"
#include "net/socket.h"
#include "port/resp/lock_replies.h"

namespace turno::port {

namespace {

constexpr std::size_t read_size = std::size_t{16} << 10;
constexpr std::size_t most_unread = std::size_t{256} << 10;  // bytes of a client that does not read
constexpr std::size_t most_news = std::size_t{8} << 20;      // the same, of what it did not ask for

std::string_view name_of(const News& news) {
  switch (news.kind) {
    case News::Kind::granted:
      return "granted";
    case News::Kind::timeout:
      return "timeout";
    case News::Kind::failed:
      return news.code.empty() ? "failed" : news.code == "DEADLOCK" ? "deadlock" : "refused";
    case News::Kind::lost:
      return "lost";
    case News::Kind::draining:
      return "draining";
  }
  return "";
}

std::string json_of(std::span<const Resource> resources) {
  std::vector<std::string> all;
  for (const auto& resource : resources)
    all.push_back(Json()
                      .add("type", resource.type)
                      .add("number", resource.number)
                      .add("fence", std::to_string(resource.fence.value))
                      .text());
  return json_array(all);
}

// Fences are texts, since many programs keep all numbers as doubles.
std::string json_of(const News& news) {
  Json json;
  json.add("event", name_of(news));
  if (!news.lock.empty()) json.add(table::name(news.thing), news.lock);
  if (news.ticket != 0) json.add("ticket", news.ticket);
  if (news.fence != Fence{})
    json.add(news.thing == Thing::election ? "term" : "fence", std::to_string(news.fence.value));
  if (!news.permits.empty()) {
    std::vector<std::string> permits;
    for (const auto permit : news.permits) permits.push_back(std::to_string(permit));
    json.add_raw("permits", json_array(permits));
  }
  if (!news.resources.empty()) json.add_raw("resources", json_of(news.resources));
  if (!news.reason.empty()) json.add("reason", news.reason);
  return json.text();
}

}  // namespace

Connection::Connection(Clients& clients, net::Fd socket, Session& session)
    : Stream(clients.host().loop(), std::move(socket)),
      clients_(clients),
      session_(&session),
      id_(session.id()),
      from_(net::peer_of(this->socket())),
      reply_(out(), 2) {
  session.set_origin(from_);
  session.join(*this);
}

bool Connection::is_owners() const {
  const auto credentials = net::credentials_of(socket());
  return credentials && (credentials->user == ::geteuid() || credentials->user == 0);
}

std::string Connection::origin() const {
  if (const auto credentials = net::credentials_of(socket()))
    return "user " + net::user_name(credentials->user);
  return "address " + from_.substr(0, from_.rfind(':'));
}

Connection::~Connection() {
  *alive_ = false;
  loop().cancel(incomplete_);
  leave_session();
}

void Connection::leave_session() {
  session_->leave(*this);
  clients_.left(*session_);
  lease_ = nullptr;
}

void Connection::begin_session() {
  session_ = &clients_.make_session();
  session_->set_origin(from_);
  session_->join(*this);
}

void Connection::speak_for(Leases::Lease& lease) {
  leave_session();
  gone_.clear();
  lease_ = &lease;
  lease.touch(Clock::now());
  session_ = &lease.session;
  session_->join(*this);
}

void Connection::reset() {
  leave_session();
  gone_.clear();
  begin_session();
  subscriptions_.clear();
  observed_.clear();
  transaction_ = {};
  reply_.set_protocol(2);
  reply_.set_fences_as_text(false);
}

void Connection::session_ends(std::string_view reason) {
  gone_ = "the session for which this connection spoke " + std::string(reason);
  lease_ = nullptr;
  begin_session();
}

std::string Connection::local_address() const { return net::address_of(socket()); }

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
  while (more && !waiting_ && !quitting_ && !ending_ && unwritten() < most_unread) {
    more = execute_next();
    if (unwritten() >= most_unread) flush();
  }
  working_ = false;
  flush();
  if (!more && parser_.pending() > 0 && incomplete_.number == 0) watch_incomplete();
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
  ++done_;
  execute(*this, parser_.arguments());
  return true;
}

// Who begins a command and does not go on is hung up on: its buffers are for others.
void Connection::watch_incomplete() {
  incomplete_ = loop().after(clients_.patience(), [this, before = done_] {
    incomplete_ = {};
    if (quitting_ || waiting_ || parser_.pending() == 0) return;
    if (done_ != before) return watch_incomplete();
    reply_.error("ERR", "Protocol error: the command was begun and not finished in time");
    quitting_ = true;
    work();
  });
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
  if (host().draining()) return say_draining();
  const Session::Wanted wish{.name = wanted.name,
                             .timeout = wanted.timeout,
                             .ttl = wanted.ttl,
                             .asker = wanted.async ? nullptr : this,
                             .thing = wanted.thing,
                             .count = wanted.count,
                             .permits = wanted.permits,
                             .by_default = wanted.by_default,
                             .resizes = wanted.resizes,
                             .value = wanted.value,
                             .group = wanted.group,
                             .claims = wanted.claims};
  const auto asked =
      table::several_have(wish.thing) ? session_->permit(wish) : session_->lock(wish);
  if (!asked.objection.empty()) return reply_.error(asked.code, asked.objection);
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
      if (!wanted.async)
        return write_grant(wish.thing, asked.fence, asked.permits, asked.resources);
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
       .fence = asked.fence,
       .thing = wish.thing,
       .permits = asked.permits,
       .resources = asked.resources});
}

// Of a lock or a room its fence, of an election its term; of permits, for each its number and its
// fence; of a reservation its fence, and of each resource its type, its number and its own fence.
void Connection::write_grant(Thing thing, Fence fence, std::span<const std::uint32_t> permits,
                             std::span<const Resource> resources) {
  if (thing == Thing::store) {
    reply_.array(2);
    reply_.fence(fence.value);
    return write_resources(reply_, resources);
  }
  if (thing != Thing::semaphore) return reply_.fence(fence.value);
  if (permits.empty()) return reply_.simple("OK");  // it was resized
  write_permits(reply_, permits, fence);
}

void Connection::say_draining() {
  reply_.error("DRAINING", "this node leaves; ask another node of the cluster");
}

void Connection::answer(const News& news) {
  switch (news.kind) {
    case News::Kind::granted:
      write_grant(news.thing, news.fence, news.permits, news.resources);
      break;
    case News::Kind::timeout:
      reply_.null();
      break;
    case News::Kind::failed:
    case News::Kind::lost:
    case News::Kind::draining:
      reply_.error(news.code.empty() ? "UNAVAILABLE" : news.code, news.reason);
      break;
  }
  go_on();
}

void Connection::tell(const News& news) {
  // Version 2 has no other way to say something unasked than to subscribers.
  const bool pushes = reply_.protocol() >= 3;
  if (!subscriptions_.empty()) publish(news);
  if (pushes) push(news);
  after_news();
}

void Connection::after_news() {
  if (!working_ && unwritten() > 0) flush();
  // It must not miss anything: so it is made to notice.
  if (unwritten() > most_news && !std::exchange(quitting_, true)) {
    log::warning("client {} ({}): it does not read what it is told: hung up", session_->name(),
                 from_);
    loop().later([this, alive = alive_] {
      if (*alive) closed("it does not read what it is told");
    });
  }
}

bool Connection::hears() const {
  return is_open() && (reply_.protocol() >= 3 || subscriptions_.hears("turno:lost"));
}

void Connection::publish(const News& news) {
  publish("turno:" + std::string(name_of(news)), [&] { return json_of(news); });
}

// The text is made only if somebody hears it.
template <class Text>
void Connection::publish(std::string_view channel, const Text& make_text) {
  std::string text;
  const auto message = [&](std::size_t parts, std::string_view kind) {
    if (text.empty()) text = make_text();
    reply_.push(parts);
    reply_.bulk(kind);
  };
  for (const auto& wanted : subscriptions_.channels()) {
    if (wanted != channel) continue;
    message(3, "message");
    reply_.bulk(channel);
    reply_.bulk(text);
  }
  for (const auto& pattern : subscriptions_.patterns()) {
    if (!matches(pattern, channel)) continue;
    message(4, "pmessage");
    reply_.bulk(pattern);
    reply_.bulk(channel);
    reply_.bulk(text);
  }
}

void Connection::tell_leader(const Leadership& change) {
  if (!subscriptions_.empty()) publish_leader(change);
  const bool observed =
      std::find(observed_.begin(), observed_.end(), change.election) != observed_.end();
  if (observed && reply_.protocol() >= 3) {
    reply_.push(change.leads() ? 6 : 3);
    reply_.bulk(change.leads() ? "leader" : "nobody");
    reply_.bulk(change.election);
    reply_.fence(change.term.value);
    if (change.leads()) {
      reply_.bulk(change.value);
      reply_.bulk(node_of(change));
      reply_.bulk(change.client);
    }
  }
  after_news();
}

void Connection::tell_members(const cluster::View& view) {
  if (!session_->moves_by_itself() || reply_.protocol() < 3) return;
  reply_.push(2);
  reply_.bulk("members");
  write_member_addresses(reply_, view);
  after_news();
}

std::string_view Connection::node_of(const Leadership& leader) {
  const auto* member = host().view().find(leader.member);
  return member == nullptr ? std::string_view() : member->name;
}

void Connection::publish_leader(const Leadership& change) {
  publish("turno:leader:" + change.election, [&] {
    Json json;
    json.add("event", change.leads() ? "leader" : "nobody")
        .add("election", change.election)
        .add("term", std::to_string(change.term.value));
    if (change.leads())
      json.add("value", change.value).add("node", node_of(change)).add("client", change.client);
    return json.text();
  });
}

void Connection::push(const News& news) {
  const bool is_short = news.kind == News::Kind::timeout;
  const bool draining = news.kind == News::Kind::draining;
  // A lock and an election may have the same name and the same fence.
  const bool lost_other = news.kind == News::Kind::lost && news.thing != Thing::lock;
  reply_.push(is_short || draining ? 3 : lost_other ? 5 : 4);
  reply_.bulk(name_of(news));
  if (draining) {
    reply_.bulk(host().self().name);
    return reply_.bulk(news.reason);
  }
  if (news.kind == News::Kind::lost) {
    reply_.bulk(news.lock);
    reply_.fence(news.fence.value);
    reply_.bulk(news.reason);
    if (lost_other) reply_.bulk(table::name(news.thing));
    return;
  }
  reply_.integer(static_cast<std::int64_t>(news.ticket));
  reply_.bulk(news.lock);
  if (news.kind == News::Kind::granted)
    write_grant(news.thing, news.fence, news.permits, news.resources);
  if (news.kind == News::Kind::failed) reply_.bulk(news.reason);
}

}  // namespace turno::port

#include "turno/client.h"

#include <utility>

#include "client/holder.h"
#include "client/observation.h"
#include "client/session.h"

namespace turno {

namespace {

Service::Lock opened(client::Named* lock) { return lock; }

client::Connection::Arguments who_question(std::string_view name, std::string_view kind) {
  client::Connection::Arguments question{"WHO", name};
  if (!kind.empty()) question.push_back(kind);
  return question;
}

}  // namespace

tl::expected<std::unique_ptr<Client>, Error> Client::connect(
    const std::vector<std::string>& addresses, Options options) {
  if (addresses.empty())
    return tl::unexpected(Error{Error::Code::invalid, "there is no address to connect to"});
  std::vector<net::Address> parsed;
  for (const auto& address : addresses) {
    auto each = client::parse_node_address(address);
    if (!each) return tl::unexpected(std::move(each.error()));
    parsed.push_back(std::move(*each));
  }
  auto session = std::make_unique<Session>(parsed, std::move(options));
  if (auto connected = session->connect(); !connected)
    return tl::unexpected(std::move(connected.error()));
  return std::unique_ptr<Client>(new Client(std::move(session)));
}

Client::Client(std::unique_ptr<Session> session) : session_(std::move(session)) {}

Client::~Client() = default;

void Client::catch_up(std::chrono::milliseconds longest) { session_->catch_up(longest); }

Client::Identity Client::identity() const { return session_->identity(); }

tl::expected<std::optional<Holder>, Error> Client::who(std::string_view name,
                                                       std::string_view kind) {
  const auto reply = session_->call(who_question(name, kind));
  if (!reply) return tl::unexpected(reply.error());
  return client::holder_from(*reply);
}

tl::expected<std::optional<Holder>, Error> Client::who(std::string_view name, std::string_view kind,
                                                       std::chrono::milliseconds longest) {
  const auto reply = session_->call(who_question(name, kind), longest);
  if (!reply) return tl::unexpected(reply.error());
  return client::holder_from(*reply);
}

std::vector<std::string> Client::addresses() const { return session_->addresses(); }

tl::expected<Service::Lock, Error> Client::open(std::string_view name) {
  return session_->open(name, client::Thing::lock).map(opened);
}

tl::expected<Service::Lock, Error> Client::open_semaphore(std::string_view name) {
  return session_->open(name, client::Thing::semaphore).map(opened);
}

tl::expected<Service::Lock, Error> Client::open_room(std::string_view name) {
  return session_->open(name, client::Thing::room).map(opened);
}

tl::expected<Service::Lock, Error> Client::open_store(std::string_view name) {
  return session_->open(name, client::Thing::store).map(opened);
}

tl::expected<Service::Lock, Error> Client::open_election(std::string_view name) {
  return session_->open(name, client::Thing::election).map(opened);
}

tl::expected<std::optional<Leader>, Error> Client::leader(std::string_view election) {
  const auto reply = session_->call({"LEADER", election});
  if (!reply) return tl::unexpected(reply.error());
  return client::leader_from(*reply);
}

tl::expected<std::unique_ptr<Observation>, Error> Client::observe(std::string_view election,
                                                                  LeaderChanged changed) {
  const auto& options = session_->options();
  auto observer = std::make_unique<client::ElectionObserver>(
      std::string(election), std::move(changed),
      [session = session_.get()](const auto& silent, const auto& stop) {
        return session->find_node(silent, stop);
      },
      client::ElectionObserver::Options{options.name, options.answer_timeout});
  if (auto known = observer->wait(options.connect_timeout); !known)
    return tl::unexpected(std::move(known.error()));
  return observer;
}

std::vector<std::uint32_t> Client::permits(Hold hold) const {
  return static_cast<const Session::Held*>(hold)->permits;
}

std::vector<Resource> Client::resources(Hold hold) const {
  return static_cast<const Session::Held*>(hold)->resources;
}

void Client::close(Lock lock) noexcept { session_->close(static_cast<Session::Named*>(lock)); }

tl::expected<Grant, Error> Client::acquire(Lock lock, const Request& request,
                                           std::stop_token stop) {
  auto held = session_->acquire(*static_cast<Session::Named*>(lock), request, stop);
  if (!held) return tl::unexpected(std::move(held.error()));
  return Grant(*this, *held, (*held)->fence);
}

void Client::release(Hold hold, std::uint64_t) noexcept {
  session_->release(static_cast<Session::Held*>(hold));
}

tl::expected<void, Error> Client::renew(Hold hold, std::uint64_t, std::chrono::milliseconds ttl) {
  return session_->renew(*static_cast<Session::Held*>(hold), ttl);
}

std::string_view Client::name(Hold hold) const noexcept {
  return static_cast<const Session::Held*>(hold)->lock->name;
}

bool Client::lost(Hold hold, std::uint64_t) const noexcept {
  return static_cast<const Session::Held*>(hold)->lost;
}

std::stop_token Client::lost_token(Hold hold, std::uint64_t) {
  return static_cast<Session::Held*>(hold)->stop.get_token();
}

}  // namespace turno

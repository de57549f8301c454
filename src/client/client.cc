#include "turno/client.h"

#include <utility>

#include "client/holder.h"
#include "client/session.h"

namespace turno {

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

tl::expected<std::optional<Holder>, Error> Client::who(std::string_view name) {
  const auto reply = session_->call({"WHO", name});
  if (!reply) return tl::unexpected(reply.error());
  return client::holder_from(*reply);
}

tl::expected<Service::Lock, Error> Client::open(std::string_view name) {
  return session_->open(name).map([](Session::Named* lock) { return Lock{lock}; });
}

tl::expected<Service::Lock, Error> Client::open_semaphore(std::string_view name) {
  return session_->open_semaphore(name).map([](Session::Named* lock) { return Lock{lock}; });
}

std::vector<std::uint32_t> Client::permits(Hold hold) const {
  return static_cast<const Session::Held*>(hold)->permits;
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

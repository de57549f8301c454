#include "cli/cluster/node_query.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/local_members.h"
#include "cli/cluster/node_address.h"
#include "cli/frame/readable.h"
#include "client/holder.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;
using wire::Reply;

template <class T>
T number_in(std::string_view text) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A map in an answer, by its keys.
class Fields {
 public:
  explicit Fields(const Reply& map) : map_(map) {}
  [[nodiscard]] std::string text(std::string_view key) const {
    const auto* value = find(key);
    return value == nullptr ? "" : value->text;
  }
  [[nodiscard]] std::int64_t number(std::string_view key) const {
    const auto* value = find(key);
    return value == nullptr ? 0 : value->integer;
  }

 private:
  [[nodiscard]] const Reply* find(std::string_view key) const {
    for (std::size_t at = 0; at + 1 < map_.elements.size(); at += 2)
      if (map_.elements[at].text == key) return &map_.elements[at + 1];
    return nullptr;
  }
  const Reply& map_;
};

// An element of a list that tells what may be missing in it.
bool take_gap(const Reply& element, Gaps& gaps) {
  const Fields fields(element);
  const auto silent = fields.text("silent"), cut = fields.text("cut");
  if (!silent.empty())
    gaps.silent.push_back({.name = silent,
                           .pid = fields.number("pid"),
                           .state = cluster::process_state_named(fields.text("state"))});
  if (!cut.empty()) gaps.cut.push_back(cut);
  return !silent.empty() || !cut.empty();
}

std::vector<std::uint64_t> permits_in(const Reply& holder) {
  std::vector<std::uint64_t> permits;
  for (std::size_t i = 0; i + 1 < holder.elements.size(); i += 2)
    if (holder.elements[i].text == "permits")
      for (const auto& permit : holder.elements[i + 1].elements)
        permits.push_back(static_cast<std::uint64_t>(permit.integer));
  return permits;
}

std::vector<Resource> resources_in(const Reply& holder) {
  std::vector<Resource> resources;
  for (std::size_t i = 0; i + 1 < holder.elements.size(); i += 2)
    if (holder.elements[i].text == "resources")
      for (const auto& each : holder.elements[i + 1].elements)
        if (each.elements.size() == 3)
          resources.push_back({each.elements[0].text,
                               static_cast<std::uint32_t>(each.elements[1].integer),
                               static_cast<std::uint64_t>(each.elements[2].integer)});
  return resources;
}

// Of what several may have.
std::vector<PermitHolder> holders_in(const Reply& thing) {
  std::vector<PermitHolder> holders;
  for (std::size_t i = 0; i + 1 < thing.elements.size(); i += 2) {
    if (thing.elements[i].text != "holders") continue;
    for (const auto& each : thing.elements[i + 1].elements)
      if (auto one = client::holder_from(each); one && *one)
        holders.push_back(
            {std::move(**one), permits_in(each), Fields(each).text("group"), resources_in(each)});
  }
  return holders;
}

}  // namespace

NodeInfo::NodeInfo(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find("\r\n"), text.size());
    const auto line = text.substr(0, end);
    if (const auto colon = line.find(':'); colon != std::string_view::npos)
      lines_.emplace(line.substr(0, colon), line.substr(colon + 1));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
}

std::string NodeInfo::text(const std::string& key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? "" : found->second;
}

std::uint64_t NodeInfo::number(const std::string& key) const {
  return number_in<std::uint64_t>(text(key));
}

tl::expected<NodeQuery, Error> NodeQuery::open(const std::string& address, milliseconds patience) {
  const auto parsed = client::parse_node_address(address);
  if (!parsed) return tl::unexpected(parsed.error());
  auto connection = client::Connection::open(
      *parsed, {.name = "turno", .connect_timeout = std::min(patience, for_one)},
      {.push = [](Reply&) { return true; }, .closed = [](const std::string&) {}});
  if (!connection) return tl::unexpected(connection.error());
  return NodeQuery(address, patience, std::move(*connection));
}

tl::expected<NodeQuery, Error> NodeQuery::reach(const std::vector<std::string>& node_options,
                                                const std::string& directory) {
  const auto addresses = node_addresses(node_options, directory);
  if (!addresses) return tl::unexpected(addresses.error());
  Error failure{Error::Code::unavailable, {}};
  for (const auto& address : *addresses) {
    auto query = open(address, for_all);
    if (query) return query;
    failure.message += (failure.message.empty() ? "" : "\n  ") + query.error().message;
  }
  if (!node_options.empty()) return tl::unexpected(std::move(failure));
  // None answers: what the kernel says of those of this machine.
  const auto view = live_members(cluster_directory(directory));
  for (const auto& member : view ? view->members : std::vector<cluster::Member>())
    if (std::find(addresses->begin(), addresses->end(), client_address(member)) != addresses->end())
      failure.message +=
          "; " + describe(SilentNode{member.name, member.pid, cluster::process_state(member.pid)});
  return tl::unexpected(std::move(failure));
}

tl::expected<Reply, Error> NodeQuery::call(const client::Connection::Arguments& arguments) {
  auto reply = connection_->call(arguments, patience_);
  if (!reply)
    return tl::unexpected(Error{reply.error().code, address_ + ": " + reply.error().message});
  if (reply->is_error())
    return tl::unexpected(Error{Error::Code::refused, address_ + ": " + reply->text});
  return reply;
}

tl::expected<std::vector<Reply>, Error> NodeQuery::list(
    const client::Connection::Arguments& arguments) {
  auto reply = call(arguments);
  if (!reply) return tl::unexpected(reply.error());
  bool maps = reply->kind == Reply::Kind::array;
  for (const auto& element : reply->elements) maps = maps && element.kind == Reply::Kind::map;
  if (maps) return std::move(reply->elements);
  return tl::unexpected(Error{
      Error::Code::internal,
      address_ + ": the answer to " + std::string(arguments.front()) + " is not a list of maps"});
}

tl::expected<NodeInfo, Error> NodeQuery::info() {
  return call({"INFO"}).map([](const Reply& reply) { return NodeInfo(reply.text); });
}

tl::expected<std::vector<cluster::Member>, Error> NodeQuery::members() {
  const auto replies = list({"MEMBERS"});
  if (!replies) return tl::unexpected(replies.error());
  std::vector<cluster::Member> members;
  for (const auto& reply : *replies) {
    const Fields fields(reply);
    members.push_back({.id = static_cast<std::uint64_t>(fields.number("id")),
                       .name = fields.text("name"),
                       .peer_address = fields.text("peer"),
                       .client_address = fields.text("client"),
                       .client_socket = fields.text("socket"),
                       .http_address = fields.text("http"),
                       .pid = fields.number("pid")});
  }
  return members;
}

tl::expected<std::vector<MemberState>, Error> NodeQuery::member_states() {
  const auto replies = list({"MEMBERS"});
  if (!replies) return tl::unexpected(replies.error());
  std::vector<MemberState> states;
  for (const auto& reply : *replies) {
    const Fields fields(reply);
    states.push_back({.name = fields.text("name"),
                      .process = cluster::process_state_named(fields.text("process")),
                      .quiet = milliseconds(fields.number("quiet_ms"))});
  }
  return states;
}

tl::expected<Answer<HeldLock>, Error> NodeQuery::locks() {
  const auto replies = list({"LOCKS"});
  if (!replies) return tl::unexpected(replies.error());
  Answer<HeldLock> locks;
  for (const auto& reply : *replies) {
    if (take_gap(reply, locks.gaps)) continue;
    auto holder = client::holder_from(reply);
    if (!holder) return tl::unexpected(holder.error());
    if (*holder)
      locks.list.push_back({Fields(reply).text("name"), std::move(**holder), holders_in(reply)});
  }
  return locks;
}

tl::expected<WhoAnswer, Error> NodeQuery::who(std::string_view name, std::string_view kind) {
  client::Connection::Arguments question{"WHO", name};
  if (!kind.empty()) question.push_back(kind);
  const auto reply = connection_->call(question, patience_);
  if (!reply)
    return tl::unexpected(Error{reply.error().code, address_ + ": " + reply.error().message});
  const auto holder = client::holder_from(*reply);
  if (!holder && holder.error().code == Error::Code::unavailable)
    return WhoAnswer{.complete = false};
  if (!holder)
    return tl::unexpected(Error{holder.error().code, address_ + ": " + holder.error().message});
  return WhoAnswer{.holder = *holder, .holders = holders_in(*reply)};
}

tl::expected<Answer<WaitingClient>, Error> NodeQuery::waiters(std::string_view name,
                                                              std::string_view kind) {
  client::Connection::Arguments question{"WAITERS", name};
  if (!kind.empty()) question.push_back(kind);
  const auto replies = list(question);
  if (!replies) return tl::unexpected(replies.error());
  Answer<WaitingClient> waiters;
  for (const auto& reply : *replies) {
    if (take_gap(reply, waiters.gaps)) continue;
    const Fields fields(reply);
    waiters.list.push_back({.node = fields.text("node"),
                            .client = fields.text("client"),
                            .from = fields.text("from"),
                            .session = static_cast<std::uint64_t>(fields.number("session")),
                            .waiting = milliseconds(fields.number("waiting_ms")),
                            .count = static_cast<std::uint64_t>(fields.number("count")),
                            .group = fields.text("group"),
                            .wants = fields.text("wants")});
  }
  return waiters;
}

tl::expected<Chain, Error> NodeQuery::chain(std::string_view name, std::string_view kind) {
  client::Connection::Arguments question{"WHY", name};
  if (!kind.empty()) question.push_back(kind);
  const auto reply = call(question);
  if (!reply) return tl::unexpected(reply.error());
  Chain chain{.links = {}, .deadlock = Fields(*reply).text("deadlock")};
  for (std::size_t i = 0; i + 1 < reply->elements.size(); i += 2) {
    if (reply->elements[i].text != "chain") continue;
    for (const auto& each : reply->elements[i + 1].elements) {
      const Fields fields(each);
      chain.links.push_back({.node = fields.text("node"),
                             .client = fields.text("client"),
                             .from = fields.text("from"),
                             .session = static_cast<std::uint64_t>(fields.number("session")),
                             .has = fields.text("has"),
                             .has_kind = fields.text("has_kind"),
                             .waits_for = fields.text("waits_for"),
                             .waits_for_kind = fields.text("waits_for_kind"),
                             .waiting = milliseconds(fields.number("waiting_ms")),
                             .stuck = fields.number("stuck") != 0});
    }
  }
  return chain;
}

tl::expected<void, Error> NodeQuery::resize(std::string_view semaphore, std::uint32_t permits,
                                            milliseconds time) {
  const auto reply =
      call({"RESIZE", semaphore, std::to_string(permits), "TIMEOUT", std::to_string(time.count())});
  if (!reply) return tl::unexpected(reply.error());
  if (reply->kind != Reply::Kind::null) return {};
  return tl::unexpected(
      Error{Error::Code::timeout,
            fmt::format("semaphore '{}' was not resized within {} ms: a node does not answer; it "
                        "may still be; see: {} status",
                        printable(semaphore), time.count(), program())});
}

tl::expected<void, Error> NodeQuery::drain() {
  return call({"DRAIN"}).map([](const Reply&) {});
}

}  // namespace turno::cli

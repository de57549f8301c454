#include "client/holder.h"

#include <charconv>
#include <string_view>

namespace turno::client {

namespace {

using wire::Reply;

constexpr std::string_view incomplete = "INCOMPLETE ";

std::string text_of(const Reply& reply) {
  return reply.kind == Reply::Kind::integer ? std::to_string(reply.integer) : reply.text;
}

std::uint64_t number_of(const Reply& reply) {
  if (reply.kind == Reply::Kind::integer)
    return reply.integer < 0 ? 0 : static_cast<std::uint64_t>(reply.integer);
  std::uint64_t value = 0;
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), value);
  return value;
}

std::string seconds(std::chrono::milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

tl::expected<std::optional<Holder>, Error> holder_from(const Reply& reply) {
  if (reply.is_null()) return std::nullopt;
  if (reply.is_error() && reply.text.starts_with(incomplete))
    return tl::unexpected(Error{Error::Code::unavailable, reply.text.substr(incomplete.size())});
  if (reply.is_error()) return tl::unexpected(Error{Error::Code::refused, reply.text});
  if (reply.kind != Reply::Kind::map || reply.elements.size() % 2 != 0)
    return tl::unexpected(
        Error{Error::Code::internal, "the node answers WHO with what is not a map"});
  Holder holder;
  for (std::size_t at = 0; at < reply.elements.size(); at += 2) {
    const std::string_view key = reply.elements[at].text;
    const auto& value = reply.elements[at + 1];
    if (key == "node") holder.node = text_of(value);
    if (key == "session") holder.session = text_of(value);
    if (key == "client") holder.client = text_of(value);
    if (key == "from") holder.from = text_of(value);
    if (key == "fence" || key == "term") holder.fence = number_of(value);
    if (key == "kind") holder.kind = text_of(value);
    if (key == "value") holder.value = text_of(value);
    if (key == "waiting") holder.waiting = number_of(value);
    if (key == "held_ms" || key == "told_ms")
      holder.held = std::chrono::milliseconds(number_of(value));
    if (key == "kept_for") holder.kept_for = text_of(value);
    if (key == "free_in_ms") holder.free_in = std::chrono::milliseconds(number_of(value));
    if (key == "leaving") holder.leaving = true;
    if (key == "told_by") holder.told_by = text_of(value);
    if (key == "in_use") holder.in_use = number_of(value);
    if (key == "inside") holder.inside = number_of(value);
  }
  return holder;
}

tl::expected<std::optional<Leader>, Error> leader_from(const Reply& reply) {
  const auto holder = holder_from(reply);
  if (!holder) return tl::unexpected(holder.error());
  // The clients of a node that died may still believe that they lead; nobody else does yet.
  if (!*holder || (*holder)->fence == 0) return std::nullopt;
  return Leader{.term = (*holder)->fence,
                .value = (*holder)->value,
                .node = (*holder)->node,
                .client = (*holder)->client};
}

Client::Identity identity_from(const Reply& hello) {
  Client::Identity identity;
  for (std::size_t at = 0; at + 1 < hello.elements.size(); at += 2) {
    if (hello.elements[at].text == "node") identity.node = text_of(hello.elements[at + 1]);
    if (hello.elements[at].text == "id") identity.session = text_of(hello.elements[at + 1]);
    if (hello.elements[at].text == "draining")
      identity.draining = hello.elements[at + 1].integer != 0;
    if (hello.elements[at].text == "lock_delay_ms")
      identity.lock_delay = std::chrono::milliseconds(number_of(hello.elements[at + 1]));
  }
  return identity;
}

std::string describe(const Holder& holder) {
  std::string text;
  if (holder.inside > 0) {
    text = std::to_string(holder.inside) + (holder.inside == 1 ? " is inside" : " are inside");
  } else if (holder.in_use > 0) {
    text = std::to_string(holder.in_use) + (holder.kind == "store" ? " resource" : " permit") +
           (holder.in_use == 1 ? " is in use" : "s are in use");
  } else if (!holder.kept_for.empty()) {
    text = "kept for the clients of " + holder.kept_for + ", which crashed; free in " +
           seconds(holder.free_in);
  } else if (holder.leaving) {
    text = "kept by node " + holder.node + ", which leaves: free when it has left";
  } else if (!holder.told_by.empty()) {
    text = "perhaps held at node " + holder.node + ", which does not answer; it told " +
           holder.told_by + " so " + seconds(holder.held) + " ago";
  } else if (holder.node.empty()) {
    text = "nobody who answered has any of it";
  } else {
    text = (holder.kind == "election" ? "led from node " : "held by node ") + holder.node +
           ", session " + holder.session;
    if (!holder.client.empty()) text += " (" + holder.client + ")";
    text += ", for " + seconds(holder.held);
  }
  if (holder.waiting > 0)
    text += "; " + std::to_string(holder.waiting) + (holder.waiting == 1 ? " waits" : " wait");
  return text;
}

}  // namespace turno::client

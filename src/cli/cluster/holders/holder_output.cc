#include "cli/cluster/holders/holder_output.h"

#include "cli/frame/readable.h"

namespace turno::cli {

namespace {

Json waiter_json(const WaitingClient& waiter, std::size_t position) {
  auto json = Json()
                  .add("position", position)
                  .add("client", printable(waiter.client))
                  .add("from", printable(waiter.from))
                  .add("node", printable(waiter.node))
                  .add("session", std::to_string(waiter.session))
                  .add("waiting_ms", waiter.waiting.count());
  if (waiter.count > 0) json.add("count", waiter.count);
  if (!waiter.group.empty()) json.add("group", printable(waiter.group));
  if (!waiter.wants.empty()) json.add("wants", printable(waiter.wants));
  return json;
}

std::string listed(const std::vector<std::uint64_t>& permits) {
  std::string text = permits.size() == 1 ? "permit " : "permits ";
  for (std::size_t i = 0; i < permits.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(permits[i]);
  return text;
}

std::string listed(const std::vector<Resource>& resources) {
  std::string text;
  for (const auto& each : resources)
    text += (text.empty() ? "" : ", ") + printable(each.type) + ":" + std::to_string(each.number);
  return text;
}

}  // namespace

std::string named(const std::string& client) {
  return client.empty() ? "(unnamed)" : printable(client);
}
std::string named(const std::string& client, const std::string& from) {
  return named(client) + (from.empty() || from == client ? "" : " (" + printable(from) + ")");
}

bool several_have(std::string_view kind) {
  return kind == "semaphore" || kind == "room" || kind == "store";
}

void add_holder(Json& json, const Holder& holder) {
  if (!holder.kept_for.empty()) {
    json.add(
        "kept",
        Json().add("for", printable(holder.kept_for)).add("free_in_ms", holder.free_in.count()));
    return;
  }
  if (holder.leaving) {
    json.add("leaving", Json().add("node", printable(holder.node)));
    return;
  }
  if (!holder.told_by.empty()) {
    json.add("perhaps_held", Json()
                                 .add("node", printable(holder.node))
                                 .add("told_by", printable(holder.told_by))
                                 .add("told_ms", holder.held.count()));
    return;
  }
  auto who = Json()
                 .add("client", printable(holder.client))
                 .add("from", printable(holder.from))
                 .add("node", printable(holder.node))
                 .add("session", printable(holder.session))
                 .add("fence", Fence{holder.fence})
                 .add("held_ms", holder.held.count());
  if (!holder.value.empty()) who.add("value", printable(holder.value));
  json.add("holder", who);
}

void add_holders(Json& json, const Holder& sum, const std::vector<PermitHolder>& all) {
  std::vector<Json> holders;
  for (const auto& [holder, permits, group, resources] : all) {
    Json each;
    add_holder(each, holder);
    if (sum.kind == "room") {
      if (holder.kept_for.empty()) each.add("group", printable(group));
    } else if (sum.kind == "store") {
      std::vector<Json> shares;
      for (const auto& [type, number, fence] : resources)
        shares.push_back(
            Json().add("type", printable(type)).add("number", number).add("fence", Fence{fence}));
      each.add("resources", shares);
    } else {
      std::vector<std::string> numbers;
      for (const auto permit : permits) numbers.push_back(std::to_string(permit));
      each.add_raw("permits", json_array(numbers));
    }
    holders.push_back(std::move(each));
  }
  const bool room = sum.kind == "room";
  json.add(room ? "inside" : "in_use", room ? sum.inside : sum.in_use).add("holders", holders);
}

std::vector<Json> list_of(const std::vector<WaitingClient>& waiters) {
  std::vector<Json> list;
  list.reserve(waiters.size());
  for (const auto& waiter : waiters) list.push_back(waiter_json(waiter, list.size() + 1));
  return list;
}

std::string share_of(const PermitHolder& who, std::string_view kind) {
  if (kind == "room")
    return who.holder.kept_for.empty() ? "group " + printable(who.group) : "it is";
  return kind == "store" ? listed(who.resources) : listed(who.permits);
}

std::string wish_of(const WaitingClient& waiter) {
  if (waiter.count > 0) return counted(waiter.count, "permit");
  return waiter.group.empty() ? printable(waiter.wants) : "group " + printable(waiter.group);
}

}  // namespace turno::cli

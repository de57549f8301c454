#include "registry/etcd/view_text.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/text/json.h"
#include "registry/succession.h"

namespace turno::registry {

namespace {

namespace json = boost::json;

// Of this object, the field of this name.
class Fields {
 public:
  explicit Fields(const json::value& value) : object_(value.as_object()) {}

  void read(std::string_view name, std::string& text) const {
    text = std::string(object_.at(name).as_string());
  }
  template <class T>
  requires std::integral<T>
  void read(std::string_view name, T& number) const { number = object_.at(name).to_number<T>(); }
  void read(std::string_view name, bool& truth) const { truth = object_.at(name).as_bool(); }
  template <class T>
  void read(std::string_view name, std::vector<T>& list) const {
    for (const auto& each : object_.at(name).as_array())
      read_each(Fields(each), list.emplace_back());
  }

 private:
  static void read_each(const Fields& from, Member& member) {
    from.read("id", member.id);
    from.read("name", member.name);
    from.read("peer_address", member.peer_address);
    from.read("client_address", member.client_address);
    from.read("client_socket", member.client_socket);
    from.read("http_address", member.http_address);
    from.read("pid", member.pid);
  }
  static void read_each(const Fields& from, cluster::Casualty& dead) {
    from.read("id", dead.id);
    from.read("name", dead.name);
    from.read("pid", dead.pid);
    from.read("epoch", dead.epoch);
    from.read("at_ms", dead.at_ms);
  }

  const json::object& object_;
};

std::vector<Json> list_of(const std::vector<Member>& members) {
  std::vector<Json> list;
  for (const auto& member : members)
    list.push_back(Json()
                       .add("id", member.id)
                       .add("name", member.name)
                       .add("peer_address", member.peer_address)
                       .add("client_address", member.client_address)
                       .add("client_socket", member.client_socket)
                       .add("http_address", member.http_address)
                       .add("pid", member.pid));
  return list;
}

std::vector<Json> list_of(const std::vector<cluster::Casualty>& casualties) {
  std::vector<Json> list;
  for (const auto& dead : casualties)
    list.push_back(Json()
                       .add("id", dead.id)
                       .add("name", dead.name)
                       .add("pid", dead.pid)
                       .add("epoch", dead.epoch)
                       .add("at_ms", dead.at_ms));
  return list;
}

// What no registry of ours writes.
std::string wrong_with(const View& view) {
  if (view.epoch == 0) return "its epoch is 0";
  if (view.members.size() > cluster::most_members) return "it has too many members";
  if (view.lock_delay_ms < 0 || view.idle_ms < 0 || view.authority_ms <= 0)
    return "one of its times cannot be";
  std::set<std::uint64_t> ids;
  std::set<std::string_view> names;
  for (const auto& member : view.members) {
    if (member.id == 0 || !ids.insert(member.id).second) return "the id of a member cannot be";
    if (!cluster::wrong_with_name(member.name).empty() || !names.insert(member.name).second)
      return "the name of a member cannot be";
  }
  return {};
}

tl::unexpected<Error> damaged(std::string_view why) {
  return tl::unexpected(Error{Error::Kind::damaged, fmt::format("this is no view: {}", why)});
}

}  // namespace

std::string to_text(const View& view) {
  return Json()
      .add("epoch", view.epoch)
      .add("fences_from", view.fences_from)
      .add("members", list_of(view.members))
      .add("algorithm", view.algorithm)
      .add("allocator", view.allocator)
      .add("wire", view.wire)
      .add("key", view.key)
      .add("lock_delay_ms", view.lock_delay_ms)
      .add("idle_ms", view.idle_ms)
      .add("authority_ms", view.authority_ms)
      .add("crashed", view.crashed)
      .add("last_crash", view.last_crash)
      .add("last_unproven", view.last_unproven)
      .add("casualties", list_of(view.casualties))
      .text();
}

Expected<View> view_from_text(std::string_view text) {
  boost::system::error_code wrong;
  const auto parsed = json::parse(json::string_view(text.data(), text.size()), wrong);
  if (wrong) return damaged(wrong.message());
  View view;
  try {
    const Fields from(parsed);
    from.read("epoch", view.epoch);
    from.read("fences_from", view.fences_from);
    from.read("members", view.members);
    from.read("algorithm", view.algorithm);
    from.read("allocator", view.allocator);
    from.read("wire", view.wire);
    from.read("key", view.key);
    from.read("lock_delay_ms", view.lock_delay_ms);
    from.read("idle_ms", view.idle_ms);
    from.read("authority_ms", view.authority_ms);
    from.read("crashed", view.crashed);
    from.read("last_crash", view.last_crash);
    from.read("last_unproven", view.last_unproven);
    from.read("casualties", view.casualties);
  } catch (const std::exception& error) {
    return damaged(error.what());
  }
  if (const auto reason = wrong_with(view); !reason.empty()) return damaged(reason);
  return view;
}

}  // namespace turno::registry

#include "cli/configuration/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/frame/suggestion.h"
#include "cluster/note.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace turno::cli {

namespace {

// In the order of table::Thing.
constexpr std::array<std::string_view, table::thing_names.size()> kinds = {
    "locks", "semaphores", "elections", "rooms", "resources"};
constexpr std::array<std::string_view, table::thing_names.size()> one_of_them = {
    "a lock", "a semaphore", "an election", "a room", "a resource"};
constexpr std::int64_t most_rank = 1'000'000;

// How many there are of it.
struct NumberOf {
  std::string_view key;
  std::int64_t most;
};
std::optional<NumberOf> number_of(table::Thing thing) {
  if (thing == table::Thing::semaphore) return NumberOf{"permits", cluster::most_permits};
  if (thing == table::Thing::store) return NumberOf{"instances", cluster::most_instances};
  return {};
}

class Reading {
 public:
  explicit Reading(const std::string& file) : file_(file) {}

  tl::expected<port::Declarations, std::string> read(std::string_view text) {
    const auto parsed = toml::parse(text);
    if (!parsed)
      return tl::unexpected(
          error_at(parsed.error().source(), std::string(parsed.error().description())));
    for (const auto& [key, node] : parsed.table()) {
      if (key == "deadlock") {
        if (const auto policy = read_policy(node)) declarations_.declare_deadlocks(*policy);
      } else if (key == "algorithm") {
        return complain(key, why_not(table::Thing::lock, "algorithm"));
      } else {
        const auto kind = std::ranges::find(kinds, key.str());
        if (kind == kinds.end()) {
          std::vector<std::string> known{"deadlock"};
          known.insert(known.end(), kinds.begin(), kinds.end());
          return complain(key, unknown_key(key, known));
        }
        const auto* things = node.as_table();
        if (things == nullptr)
          return complain(key, fmt::format("{0} is a table: [{0}.NAME]", key.str()));
        read_things(static_cast<table::Thing>(kind - kinds.begin()), *things);
      }
      if (error_) return tl::unexpected(*error_);
    }
    return std::move(declarations_);
  }

 private:
  static std::string unknown_key(const toml::key& key, const std::vector<std::string>& known) {
    const auto near = near_names(key.str(), known);
    return fmt::format("'{}' is not known here; {} {}{}", key.str(),
                       !near.empty()       ? "did you mean"
                       : known.size() == 1 ? "there is"
                                           : "there are",
                       fmt::join(near.empty() ? known : near, ", "), near.empty() ? "" : "?");
  }
  [[nodiscard]] std::string place_of(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", file_, source.begin.line, source.begin.column);
  }
  [[nodiscard]] std::string error_at(const toml::source_region& source,
                                     const std::string& what) const {
    return place_of(source) + ": " + what;
  }
  [[nodiscard]] tl::unexpected<std::string> complain(const toml::key& key,
                                                     const std::string& what) const {
    return tl::unexpected(error_at(key.source(), what));
  }
  void fail(const toml::source_region& source, const std::string& what) {
    if (!error_) error_ = error_at(source, what);
  }

  void read_things(table::Thing thing, const toml::table& things) {
    const auto kind = kinds.at(static_cast<std::size_t>(thing));
    for (const auto& [name, node] : things) {
      if (const auto wrong = port::Declarations::wrong_with(name.str()); !wrong.empty())
        return fail(name.source(), wrong);
      if (thing == table::Thing::store &&
          name.str().find_first_of(", \t\r\n:/") != std::string_view::npos)
        return fail(name.source(), "a type's name has no blanks, commas, colons or slashes");
      const auto* declared = node.as_table();
      if (declared == nullptr)
        return fail(name.source(),
                    fmt::format("{} is a table: [{}.{}]",
                                one_of_them.at(static_cast<std::size_t>(thing)), kind, name.str()));
      read_thing(thing, name, *declared);
      if (error_) return;
    }
  }

  void read_thing(table::Thing thing, const toml::key& name, const toml::table& declared) {
    const auto count = number_of(thing);
    const auto kind = kinds.at(static_cast<std::size_t>(thing));
    const bool room = thing == table::Thing::room;
    std::optional<port::DeadlockPolicy> policy;
    std::optional<std::uint32_t> number, rank;
    bool has_groups = false;
    for (const auto& [key, node] : declared) {
      if (count && key == count->key) {
        number = read_number(key, node, 1, count->most);
      } else if (key == "deadlock") {
        policy = read_policy(node);
      } else if (key == "rank") {
        rank = read_number(key, node, 0, most_rank);
      } else if (room && key == "groups") {
        has_groups = true;
        read_groups(name, key, node);
      } else if (const auto why = why_not(thing, key.str()); !why.empty()) {
        return fail(key.source(), why);
      } else {
        std::vector<std::string> known;
        if (count) known.emplace_back(count->key);
        if (room) known.emplace_back("groups");
        known.insert(known.end(), {"deadlock", "rank"});
        return fail(key.source(), unknown_key(key, known));
      }
      if (error_) return;
    }
    if (rank && policy && policy != port::DeadlockPolicy::ordered)
      return fail(
          name.source(),
          fmt::format("{}.{} has a rank, which is for deadlock = \"ordered\"", kind, name.str()));
    // What has a rank is ordered.
    if (rank) policy = port::DeadlockPolicy::ordered;
    if (policy)
      declarations_.declare_deadlocks(thing, std::string(name.str()),
                                      {.policy = *policy, .rank = rank.value_or(0)});
    if (count && !number && !policy)
      return fail(name.source(), fmt::format("{0}.{1} does not say how many {2} it has: {2} = 4",
                                             kind, name.str(), count->key));
    if (room && !policy && !has_groups)
      return fail(name.source(),
                  fmt::format("{0}.{1} says nothing: [{0}.{1}.groups.GROUP]", kind, name.str()));
    if (!number) return;
    auto where = place_in(kind, name);
    if (thing == table::Thing::store) {
      declarations_.declare_resource(std::string(name.str()),
                                     {.instances = *number, .where = std::move(where)});
    } else {
      declarations_.declare_semaphore(std::string(name.str()),
                                      {.permits = *number, .where = std::move(where)});
    }
  }

  // What might be expected here and cannot be.
  static std::string why_not(table::Thing thing, std::string_view key) {
    if (key == "algorithm" && (thing == table::Thing::lock || thing == table::Thing::election))
      return "one algorithm runs all locks and elections of a cluster; its first node chooses it: "
             "turno up --algorithm NAME";
    if (key == "algorithm" && thing == table::Thing::store)
      return "one algorithm runs all reservations of a cluster; its first node chooses it: turno "
             "up "
             "--allocator NAME";
    if (key == "algorithm")
      return fmt::format("{} always have the same algorithm; there is none to choose",
                         kinds.at(static_cast<std::size_t>(thing)));
    if (key == "door" && thing == table::Thing::room)
      return "the door is the same for all rooms of a cluster: all members of a room must keep to "
             "one "
             "rule, and what they are told of a room has none";
    return {};
  }

  void read_groups(const toml::key& room, const toml::key& groups, const toml::node& node) {
    const auto* all = node.as_table();
    if (all == nullptr)
      return fail(groups.source(),
                  fmt::format("groups is a table: [rooms.{}.groups.GROUP]", room.str()));
    for (const auto& [name, group] : *all) {
      if (const auto wrong = port::Declarations::wrong_with(name.str()); !wrong.empty())
        return fail(name.source(), wrong);
      const auto path = fmt::format("rooms.{}.groups", room.str());
      const auto* declared = group.as_table();
      if (declared == nullptr)
        return fail(name.source(), fmt::format("a group is a table: [{}.{}]", path, name.str()));
      std::optional<std::uint32_t> capacity;
      for (const auto& [key, value] : *declared) {
        if (key != "capacity") return fail(key.source(), unknown_key(key, {"capacity"}));
        capacity = read_number(key, value, 1, cluster::most_permits);
        if (error_) return;
      }
      if (!capacity)
        return fail(name.source(),
                    fmt::format("{}.{} does not say how many may be inside: capacity = 1", path,
                                name.str()));
      declarations_.declare_group(std::string(room.str()), std::string(name.str()),
                                  {.capacity = *capacity, .where = place_in(path, name)});
    }
  }

  // "semaphores.gpu, /etc/turno.toml:3:1"
  [[nodiscard]] std::string place_in(std::string_view path, const toml::key& name) const {
    return fmt::format("{}.{}, {}", path, name.str(), place_of(name.source()));
  }

  std::optional<std::uint32_t> read_number(const toml::key& key, const toml::node& node,
                                           std::int64_t least, std::int64_t most) {
    const auto* value = node.as_integer();
    if (value != nullptr && value->get() >= least && value->get() <= most)
      return static_cast<std::uint32_t>(value->get());
    fail(node.source(), fmt::format("{} is a number from {} to {}", key.str(), least, most));
    return {};
  }

  std::optional<port::DeadlockPolicy> read_policy(const toml::node& node) {
    const auto* value = node.as_string();
    const auto policy = value == nullptr ? std::nullopt : port::policy_named(value->get());
    if (!policy)
      fail(node.source(),
           fmt::format("deadlock is one of {}", fmt::join(port::deadlock_policies, ", ")));
    return policy;
  }

  const std::string& file_;
  port::Declarations declarations_;
  std::optional<std::string> error_;
};

}  // namespace

tl::expected<port::Declarations, std::string> parse_configuration(std::string_view text,
                                                                  const std::string& file) {
  return Reading(file).read(text);
}

tl::expected<port::Declarations, std::string> read_configuration(const std::string& file) {
  std::error_code unknown;
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, unknown))
    return tl::unexpected(file + ": cannot be read");
  return parse_configuration(std::string(std::istreambuf_iterator<char>(in), {}), file);
}

}  // namespace turno::cli

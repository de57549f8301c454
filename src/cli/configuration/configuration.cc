#include "cli/configuration/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

class Reading {
 public:
  explicit Reading(const std::string& file) : file_(file) {}

  tl::expected<port::Declarations, std::string> read(std::string_view text) {
    const auto parsed = toml::parse(text);
    if (!parsed)
      return tl::unexpected(
          error_at(parsed.error().source(), std::string(parsed.error().description())));
    for (const auto& [key, node] : parsed.table()) {
      const bool semaphores = key == "semaphores";
      if (!semaphores && key != "resources")
        return complain(key, unknown_key(key, {"semaphores", "resources"}));
      if (const auto* things = node.as_table()) {
        semaphores ? read_semaphores(*things) : read_resources(*things);
      } else {
        return complain(key, fmt::format("{0} is a table: [{0}.NAME]", key.str()));
      }
      if (error_) return tl::unexpected(*error_);
    }
    return std::move(declarations_);
  }

 private:
  static std::string unknown_key(const toml::key& key, const std::vector<std::string>& known) {
    const auto near = near_names(key.str(), known);
    return fmt::format("'{}' is not known here; {} {}{}", key.str(),
                       near.empty() ? "there is" : "did you mean",
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

  void read_semaphores(const toml::table& semaphores) {
    read_numbers(semaphores, {"semaphores", "a semaphore", "permits", cluster::most_permits},
                 [&](const std::string& name, std::uint32_t permits, std::string where) {
                   declarations_.declare_semaphore(name,
                                                   {.permits = permits, .where = std::move(where)});
                 });
  }
  void read_resources(const toml::table& resources) {
    read_numbers(resources, {"resources", "a resource", "instances", cluster::most_instances},
                 [&](const std::string& name, std::uint32_t instances, std::string where) {
                   declarations_.declare_resource(
                       name, {.instances = instances, .where = std::move(where)});
                 });
  }

  // Things of which no more is declared than how many there are of each.
  struct Counted {
    std::string_view things, thing, number;
    std::uint32_t most;
  };
  template <class Declare>
  void read_numbers(const toml::table& things, const Counted& of, const Declare& declare) {
    for (const auto& [name, node] : things) {
      if (const auto wrong = port::Declarations::wrong_with(name.str()); !wrong.empty())
        return fail(name.source(), wrong);
      const auto* table = node.as_table();
      if (table == nullptr)
        return fail(name.source(),
                    fmt::format("{} is a table: [{}.{}]", of.thing, of.things, name.str()));
      const auto number = read_number(name, *table, of);
      if (!number) return;
      declare(std::string(name.str()), *number,
              fmt::format("{}.{}, {}", of.things, name.str(), place_of(name.source())));
    }
  }

  std::optional<std::uint32_t> read_number(const toml::key& name, const toml::table& table,
                                           const Counted& of) {
    std::optional<std::uint32_t> number;
    for (const auto& [key, node] : table) {
      if (key != of.number) {
        fail(key.source(), unknown_key(key, {std::string(of.number)}));
        return {};
      }
      const auto* value = node.as_integer();
      if (value == nullptr || value->get() < 1 || value->get() > of.most) {
        fail(node.source(), fmt::format("{} is a number from 1 to {}", of.number, of.most));
        return {};
      }
      number = static_cast<std::uint32_t>(value->get());
    }
    if (!number)
      fail(name.source(), fmt::format("{0}.{1} does not say how many {2} it has: {2} = 4",
                                      of.things, name.str(), of.number));
    return number;
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

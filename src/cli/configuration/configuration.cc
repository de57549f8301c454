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
      if (key != "semaphores") return complain(key, unknown_key(key, {"semaphores"}));
      if (const auto* semaphores = node.as_table()) {
        read_semaphores(*semaphores);
      } else {
        return complain(key, "semaphores is a table: [semaphores.NAME]");
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
    for (const auto& [name, node] : semaphores) {
      if (const auto wrong = port::Declarations::wrong_with(name.str()); !wrong.empty())
        return fail(name.source(), wrong);
      const auto* semaphore = node.as_table();
      if (semaphore == nullptr)
        return fail(name.source(),
                    fmt::format("a semaphore is a table: [semaphores.{}]", name.str()));
      const auto permits = read_permits(name, *semaphore);
      if (!permits) return;
      declarations_.declare_semaphore(
          std::string(name.str()),
          {.permits = *permits,
           .where = fmt::format("semaphores.{}, {}", name.str(), place_of(name.source()))});
    }
  }

  std::optional<std::uint32_t> read_permits(const toml::key& name, const toml::table& semaphore) {
    std::optional<std::uint32_t> permits;
    for (const auto& [key, node] : semaphore) {
      if (key != "permits") {
        fail(key.source(), unknown_key(key, {"permits"}));
        return {};
      }
      const auto* value = node.as_integer();
      if (value == nullptr || value->get() < 1 || value->get() > cluster::most_permits) {
        fail(node.source(), fmt::format("permits is a number from 1 to {}", cluster::most_permits));
        return {};
      }
      permits = static_cast<std::uint32_t>(value->get());
    }
    if (!permits)
      fail(name.source(),
           fmt::format("semaphores.{} does not say how many permits it has: permits = 4",
                       name.str()));
    return permits;
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

#include "cli/frame/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/frame/suggestion.h"
#include "core/usage_error.h"

namespace turno::cli {

namespace {

constexpr std::size_t help_column = 34;

// What the parser says, in words for people.
std::string explain(const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view unconverted = "Could not convert: ";
  if (!text.starts_with(unconverted)) return text;
  text.erase(0, unconverted.size());
  const auto equals = text.find(" = ");
  if (equals == std::string::npos) return text;
  return text.substr(0, equals) + ": '" + text.substr(equals + 3) + "' is no number that fits";
}

// An option that does not exist, with those that are near.
bool has_option_inside(const CLI::App& root, const std::string& option) {
  for (const auto* command : root.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_option_no_throw(option) != nullptr) return true;
  return false;
}

void refuse_unknown_option(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  for (const auto& word : root.remaining(true)) {
    if (word.size() < 2 || word.front() != '-') continue;
    std::vector<std::string> known;
    for (const auto* option : command->get_options())
      for (const auto& name : option->get_lnames()) known.push_back("--" + name);
    const auto option = word.substr(0, word.find('='));
    if (command == &root && has_option_inside(root, option))
      throw UsageError("'" + option + "' belongs to a command: it comes after the command's name");
    unknown("option", option, known);
  }
}

std::vector<CLI::App*> all_inside(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace

Option Option::required() const { return Option(*option_->required()); }

Option Option::capture_default_str() const { return Option(*option_->capture_default_str()); }

Option Option::default_str(const std::string& text) const {
  return Option(*option_->default_str(text));
}

Option Option::description(const std::string& text) const {
  return Option(*option_->description(text));
}

Option Option::envname(const std::string& variable) const {
  return Option(*option_->envname(variable));
}

Option Option::non_negative() const {
  return Option(*option_->check([](const std::string& text) -> std::string {
    char* end = nullptr;
    const auto value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') return "'" + text + "' is no number";
    return value >= 0 ? "" : "'" + text + "' is less than 0";
  }));
}

Option Option::bare_value(const std::string& value) const {
  return Option(*option_->expected(0, 1)->default_str(value));
}

Option Option::repeatable() const { return Option(*option_->take_all()->allow_extra_args(false)); }

bool Option::given() const { return option_->count() > 0; }

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return Command(*app_->add_subcommand(name, help));
}

namespace {

// An empty variable in a script would otherwise mean the default, in silence.
std::string is_said(const std::string& value) { return value.empty() ? "it is empty" : ""; }

}  // namespace

Option Command::add_option(const std::string& names, std::string& value,
                           const std::string& help) const {
  return Option(*app_->add_option(names, value, help)->check(is_said));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& values,
                           const std::string& help) const {
  return Option(*app_->add_option(names, values, help)->check(is_said));
}

Option Command::add_option(const std::string& names, std::uint32_t& value,
                           const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::uint64_t& value,
                           const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::int64_t& value,
                           const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, double& value, const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<std::uint32_t>& value,
                           const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& value,
                           const std::string& help) const {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(*app_->add_flag(names, value, help));
}

Option Command::option(const std::string& name) const { return Option(*app_->get_option(name)); }

void Command::remove_option(const std::string& name) const {
  app_->remove_option(app_->get_option(name));
}

std::vector<std::string> Command::given(const std::vector<std::string>& options) const {
  std::vector<std::string> names;
  std::copy_if(options.begin(), options.end(), std::back_inserter(names),
               [&](const std::string& each) { return option(each).given(); });
  return names;
}

void Command::exclusive(const std::string& one, const std::string& other) const {
  app_->get_option(one)->excludes(app_->get_option(other));
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::hide() const { app_->group(""); }

void Command::callback(std::function<void()> then) const { app_->callback(std::move(then)); }

std::string Command::name() const { return app_->get_name(); }

bool Command::hidden() const { return app_->get_group().empty(); }

std::vector<Command> Command::subcommands() const {
  std::vector<Command> commands;
  for (auto* each : all_inside(*app_)) commands.emplace_back(*each);
  return commands;
}

bool Command::subcommand_chosen() const { return !app_->get_subcommands().empty(); }

std::vector<std::string> Command::long_options() const {
  std::vector<std::string> names;
  for (const auto* option : app_->get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  return names;
}

bool Command::takes_value(const std::string& word) const {
  const auto* option = app_->get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->set_version_flag("-v,-V,--version", name + " " + version);
  app_->require_subcommand(1);
  app_->get_formatter()->column_width(help_column);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() const { return Command(*app_); }

std::string CommandLine::help() const { return app_->help(); }

bool CommandLine::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // the parser takes them from the back
  try {
    app_->parse(std::move(words));
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app_->exit(error);
      return false;
    }
    const auto chosen = app_->get_subcommands();
    const auto try_help = "\nTry '" + app_->get_name() + " " +
                          (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help'.";
    try {
      if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) refuse_unknown_option(*app_);
    } catch (const UsageError& better) {
      throw UsageError(better.what() + try_help);
    }
    throw UsageError(explain(error) + try_help);
  }
}

}  // namespace turno::cli

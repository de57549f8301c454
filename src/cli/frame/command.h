// The command line, as the commands see it: a small face of CLI11, whose headers take longer to
// read than any command. Only command.cc reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace turno::cli {

// A handle, as Command: copies are the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required() const;
  // Help shows the value that the variable has now.
  Option capture_default_str() const;
  Option default_str(const std::string& text) const;
  Option description(const std::string& text) const;
  Option envname(const std::string& variable) const;
  Option non_negative() const;
  // Given without a value it means `value`.
  Option bare_value(const std::string& value) const;
  // Given several times, with one value each time, it collects them.
  Option repeatable() const;
  // Whether the line has it; known in callbacks.
  [[nodiscard]] bool given() const;

 private:
  CLI::Option* option_;
};

// The variables must live until the line is parsed.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_subcommand(const std::string& name, const std::string& help) const;
  Option add_option(const std::string& names, std::string& value,
                    const std::string& help = {}) const;
  Option add_option(const std::string& names, std::vector<std::string>& values,
                    const std::string& help = {}) const;
  Option add_option(const std::string& names, std::uint32_t& value,
                    const std::string& help = {}) const;
  Option add_option(const std::string& names, std::uint64_t& value,
                    const std::string& help = {}) const;
  Option add_option(const std::string& names, std::int64_t& value,
                    const std::string& help = {}) const;
  Option add_option(const std::string& names, double& value, const std::string& help = {}) const;
  Option add_option(const std::string& names, std::optional<std::uint32_t>& value,
                    const std::string& help = {}) const;
  Option add_option(const std::string& names, std::optional<std::uint64_t>& value,
                    const std::string& help = {}) const;
  Option add_flag(const std::string& names, bool& value, const std::string& help = {}) const;
  // REQUIRES: there is such an option.
  [[nodiscard]] Option option(const std::string& name) const;
  void remove_option(const std::string& name) const;
  // Which of these options the line has; known in callbacks.
  [[nodiscard]] std::vector<std::string> given(const std::vector<std::string>& options) const;
  // A line may have one of the two.
  void exclusive(const std::string& one, const std::string& other) const;

  void footer(const std::string& text) const;
  // Not shown in help.
  void hide() const;
  // Called when the line names this command.
  void callback(std::function<void()> then) const;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool hidden() const;
  [[nodiscard]] std::vector<Command> subcommands() const;
  // Whether the line names a command inside this one; known in callbacks.
  [[nodiscard]] bool subcommand_chosen() const;
  // Without their dashes.
  [[nodiscard]] std::vector<std::string> long_options() const;
  // `word` is an option of this command, and not a flag.
  [[nodiscard]] bool takes_value(const std::string& word) const;

 private:
  CLI::App* app_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] Command root() const;
  [[nodiscard]] std::string help() const;
  // False if the line asked for help or the version: it is printed, and there is nothing to do.
  // Throws UsageError.
  bool parse(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace turno::cli

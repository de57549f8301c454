#include "cli/frame/command_words.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace turno::cli {

namespace {

constexpr std::array<std::string_view, 5> commands_that_run = {"lock", "semaphore", "elect", "room",
                                                               "reserve"};

// An option whose value is the next word.
bool wants_next_word(Command command, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  if (!word.starts_with("--") && word.size() > 2) return false;  // -w5
  return command.takes_value(word);
}

}  // namespace

Words split_words(Command app, std::vector<std::string> words) {
  std::optional<Command> command;
  for (const auto& each : app.subcommands())
    if (!words.empty() && each.name() == words.front() &&
        std::find(commands_that_run.begin(), commands_that_run.end(), words.front()) !=
            commands_that_run.end())
      command = each;
  if (!command) return {.own = std::move(words)};

  bool named = false, only_words = false;
  std::size_t at = 1;
  for (; at < words.size(); ++at) {
    const auto& word = words[at];
    if (!only_words && word == "--") {
      only_words = true;
      if (named) break;
    } else if (!only_words && word.size() > 1 && word.front() == '-') {
      if (wants_next_word(*command, word)) ++at;
    } else if (named) {
      break;
    } else {
      named = true;
    }
  }
  at = std::min(at, words.size());
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(at);
  Words split{.own = {words.begin(), middle}, .command = {middle, words.end()}};
  if (!split.command.empty() && split.command.front() == "--")
    split.command.erase(split.command.begin());
  return split;
}

}  // namespace turno::cli

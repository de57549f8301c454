#include "cli/frame/completion_command.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "cli/frame/lab_program.h"
#include "cli/frame/suggestion.h"

namespace turno::cli {

namespace {

struct Words {
  std::string program, commands;
  std::map<std::string, std::string> options;  // of each command, with those of what is inside it
};

bool takes_an_algorithm(const std::string& command) {
  return command == "sim" || command == "check" || command == "up" || command == "node" ||
         command == "demo";
}

void add_options(Command command, std::string& options) {
  for (const auto& name : command.long_options())
    if (options.find("--" + name + " ") == std::string::npos) options += "--" + name + " ";
}

// One line a command, as `completion words` prints it: its name and its words.
void take_lines(const std::string& text, Words& words) {
  std::istringstream lines(text);
  for (std::string name, rest; lines >> name && std::getline(lines, rest);)
    if (words.options.contains(name)) words.options[name] = rest.substr(rest.empty() ? 0 : 1);
}

Words words_of(Command app, const Completion& completion) {
  Words words{.program = app.name()};
  const auto algorithms = fmt::format("{} ", fmt::join(completion.algorithms, " "));
  for (const auto& command : app.subcommands()) {
    words.commands += command.name() + " ";
    auto& options = words.options[command.name()];
    for (const auto& inner : command.subcommands()) {
      if (inner.hidden()) continue;
      options += inner.name() + " ";
      add_options(inner, options);
    }
    add_options(command, options);
    if (takes_an_algorithm(command.name())) options += algorithms;
  }
  if (completion.asks_lab) {
    const auto own = words.options.at("completion");
    take_lines(ask_lab({"completion", "words"}), words);
    words.options["completion"] = own;
  }
  return words;
}

void print_words(const Words& words) {
  for (const auto& [command, options] : words.options) fmt::print("{} {}\n", command, options);
}

void print_bash(const Words& words) {
  std::string name = words.program;
  for (auto& c : name)
    if (c == '-') c = '_';
  fmt::print("_{}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} words=\n", name);
  fmt::print("  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"{}--help --version\"; else\n",
             words.commands);
  fmt::print("  case ${{COMP_WORDS[1]}} in\n");
  for (const auto& [command, options] : words.options)
    fmt::print("    {}) words=\"{}\" ;;\n", command, options);
  fmt::print("  esac; fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}}\n");
  fmt::print("complete -o default -F _{} {}\n", name, words.program);
}

void print_fish(const Words& words) {
  const auto& program = words.program;
  fmt::print("complete -c {} -n __fish_use_subcommand -a '{}'\n", program, words.commands);
  for (const auto& [command, options] : words.options) {
    std::istringstream list(options);
    for (std::string word; list >> word;) {
      const bool option = word.starts_with("--");
      fmt::print("complete -c {} -n '__fish_seen_subcommand_from {}' -{} {}\n", program, command,
                 option ? 'l' : 'a', option ? word.substr(2) : word);
    }
  }
}

int complete(Command app, const Completion& completion, const std::string& shell) {
  const auto words = words_of(app, completion);
  if (shell == "bash") {
    print_bash(words);
  } else if (shell == "zsh") {
    fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
    print_bash(words);
  } else if (shell == "fish") {
    print_fish(words);
  } else if (shell == "words") {  // for another program
    print_words(words);
  } else {
    unknown("completion for", shell, {"bash", "zsh", "fish"});
  }
  return 0;
}

}  // namespace

void add_completion(Command app, Job& job, Completion completion) {
  auto command = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>("bash");
  command.add_option("SHELL", *shell, "bash, zsh or fish").capture_default_str();
  command.footer("\nExample:\n  source <(" + app.name() + " completion bash)\n");
  command.callback([app, &job, shell, completion = std::move(completion)] {
    job = [app, shell, completion] { return complete(app, completion, *shell); };
  });
}

}  // namespace turno::cli

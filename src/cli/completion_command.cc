// turno completion: a script that completes the commands, options and algorithms of turno.
#include <fmt/core.h>

#include <map>
#include <memory>

#include "catalogue/catalogue.h"
#include "cli/commands.h"
#include "cli/suggestion.h"

namespace turno::cli {

namespace {

struct Words {
  std::string commands, algorithms;
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

Words words_of(Command app) {
  Words words;
  for (const auto& command : app.subcommands()) {
    words.commands += command.name() + " ";
    auto& options = words.options[command.name()];
    for (const auto& inner : command.subcommands()) {
      if (inner.hidden()) continue;
      options += inner.name() + " ";
      add_options(inner, options);
    }
    add_options(command, options);
  }
  for (const auto& algorithm : algorithms())
    words.algorithms += std::string(algorithm.info.name) + " ";
  return words;
}

void print_bash(const Words& words) {
  fmt::print("_turno() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} words=\n");
  fmt::print("  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"{}--help --version\"; else\n",
             words.commands);
  fmt::print("  case ${{COMP_WORDS[1]}} in\n");
  for (const auto& [command, options] : words.options)
    fmt::print("    {}) words=\"{}\" ;;\n", command,
               options + (takes_an_algorithm(command) ? words.algorithms : ""));
  fmt::print("  esac; fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}}\n");
  fmt::print("complete -o default -F _turno turno\n");
}

void print_fish(const Words& words) {
  fmt::print("complete -c turno -n __fish_use_subcommand -a '{}'\n", words.commands);
  for (const auto& [command, options] : words.options) {
    if (takes_an_algorithm(command))
      fmt::print("complete -c turno -n '__fish_seen_subcommand_from {}' -a '{}'\n", command,
                 words.algorithms);
    std::string_view rest = options;
    while (!rest.empty()) {
      const auto end = rest.find(' ');
      const auto word = rest.substr(0, end);
      const bool option = word.starts_with("--");
      fmt::print("complete -c turno -n '__fish_seen_subcommand_from {}' -{} {}\n", command,
                 option ? 'l' : 'a', option ? word.substr(2) : word);
      rest.remove_prefix(end + 1);
    }
  }
}

int complete(Command app, const std::string& shell) {
  const auto words = words_of(app);
  if (shell == "bash") {
    print_bash(words);
  } else if (shell == "zsh") {
    fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
    print_bash(words);
  } else if (shell == "fish") {
    print_fish(words);
  } else {
    unknown("completion for", shell, {"bash", "zsh", "fish"});
  }
  return 0;
}

}  // namespace

void add_completion(Command app, Job& job) {
  auto command = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>("bash");
  command.add_option("SHELL", *shell, "bash, zsh or fish").capture_default_str();
  command.footer("\nExample:\n  source <(turno completion bash)\n");
  command.callback([app, &job, shell] { job = [app, shell] { return complete(app, *shell); }; });
}

}  // namespace turno::cli

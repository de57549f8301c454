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

struct Of {
  std::string words;   // with those of what is inside the command
  std::string valued;  // options of them whose next word is their value
};
struct Words {
  std::string program, commands, algorithms;
  std::map<std::string, Of> of;
};

bool begins_with_an_algorithm(const std::string& command) {
  return command == "sim" || command == "run" || command == "check";
}
// What lists the names that a command can begin with, empty if there is nothing to list.
std::string names_for(const std::string& command) {
  for (const auto* each : {"why", "waiters", "lock", "leader", "elect", "set"})
    if (command == each) return "locks --names";
  if (command == "drain") return "members --names";
  return {};
}

void add_options(Command command, Of& of) {
  for (const auto& name : command.long_options()) {
    const auto word = "--" + name;
    if (of.words.find(word + " ") != std::string::npos) continue;
    of.words += word + " ";
    if (command.takes_value(word)) of.valued += word + " ";
  }
}

// One line a command, as `completion words` prints it: its name, its words, those with values.
void take_lines(const std::string& text, Words& words) {
  std::istringstream lines(text);
  for (std::string name, own, valued; std::getline(lines, name, '\t') &&
                                      std::getline(lines, own, '\t') &&
                                      std::getline(lines, valued);)
    if (words.of.contains(name)) words.of[name] = {own, valued};
}

Words words_of(Command app, const Completion& completion) {
  Words words{.program = app.name(),
              .algorithms = fmt::format("{} ", fmt::join(completion.algorithms, " "))};
  for (const auto& command : app.subcommands()) {
    words.commands += command.name() + " ";
    auto& of = words.of[command.name()];
    for (const auto& inner : command.subcommands()) {
      if (inner.hidden()) continue;
      of.words += inner.name() + " ";
      add_options(inner, of);
    }
    add_options(command, of);
    if (begins_with_an_algorithm(command.name())) of.words += words.algorithms;
    if (command.name() == "lab")
      of.words += fmt::format("{} ", fmt::join(completion.experiments, " "));
  }
  if (completion.asks_lab) {
    const auto own = words.of.at("completion");
    take_lines(ask_lab({"completion", "words"}), words);
    words.of["completion"] = own;
  }
  return words;
}

void print_words(const Words& words) {
  for (const auto& [command, of] : words.of)
    fmt::print("{}\t{}\t{}\n", command, of.words, of.valued);
}

void print_bash(const Words& words) {
  std::string name = words.program;
  for (auto& c : name)
    if (c == '-') c = '_';
  fmt::print("_{}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} words= valued= names= name\n",
             name);
  fmt::print("  local before=${{COMP_WORDS[COMP_CWORD-1]}}\n");
  fmt::print("  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"{}--help --version\"; else\n",
             words.commands);
  fmt::print("  case ${{COMP_WORDS[1]}} in\n");
  for (const auto& [command, of] : words.of)
    fmt::print("    {}) words=\"{}\" valued=\" {}\" names=\"{}\" ;;\n", command, of.words,
               of.valued, names_for(command));
  fmt::print("  esac; fi\n  case $before in\n");
  fmt::print("    --algorithm|-a) words=\"{}\" ;;\n", words.algorithms);
  fmt::print("    -*) case $valued in *\" $before \"*) words= names= ;; esac ;;\n  esac\n");
  fmt::print("  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n");
  // Anybody names locks: a name is never expanded, as `compgen -W` would.
  fmt::print("  [ \"$names\" ] && while IFS= read -r name; do\n");
  fmt::print("    case $name in \"$word\"*) COMPREPLY+=(\"$(printf %q \"$name\")\") ;; esac\n");
  fmt::print("  done < <({} $names 2>/dev/null)\n}}\n", words.program);
  fmt::print("complete -o default -F _{} {}\n", name, words.program);
}

void print_fish(const Words& words) {
  const auto& program = words.program;
  fmt::print("complete -c {} -n __fish_use_subcommand -a '{}'\n", program, words.commands);
  for (const auto& [command, of] : words.of) {
    const auto line = [&program, &command = command](const std::string& rest) {
      fmt::print("complete -c {} -n '__fish_seen_subcommand_from {}' {}\n", program, command, rest);
    };
    std::istringstream list(of.words);
    for (std::string word; list >> word;) {
      const bool option = word.starts_with("--");
      const bool valued = of.valued.find(word + " ") != std::string::npos;
      if (word == "--algorithm") {
        line(fmt::format("-x -l algorithm -a '{}'", words.algorithms));
      } else {
        line(fmt::format("{}-{} {}", option && valued ? "-r " : "", option ? 'l' : 'a',
                         option ? word.substr(2) : word));
      }
    }
    if (const auto names = names_for(command); !names.empty())
      line(fmt::format("-a '({} {} 2>/dev/null)'", program, names));
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

#include "cli/frame/program.h"

#include <fmt/core.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/frame/command_words.h"
#include "cli/frame/suggestion.h"
#include "core/usage_error.h"

namespace turno::cli {

namespace {

int run(const Program& program, int argc, char** argv) {
  CommandLine line(program.name, program.description, TURNO_VERSION);
  const auto app = line.root();
  Job job;
  std::vector<std::string> command;
  program.add_commands(app, job, command);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    fmt::print("{}", line.help());
    return 0;
  }
  if (argc > 1) refuse_unknown_command(app, argv[1]);
  auto words = split_words(app, {argv + 1, argv + argc});
  command = std::move(words.command);
  if (!line.parse(std::move(words.own))) return 0;
  return job();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  const auto complain = [&](std::string_view what, int status) {
    fmt::print(stderr, "{}: {}\n", program.name, what);
    return status;
  };
  try {
    return run(program, argc, argv);
  } catch (const UsageError& error) {
    return complain(error.what(), exit_usage);
  } catch (const std::invalid_argument& error) {
    return complain(error.what(), exit_usage);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", exit_own_error);
  } catch (const std::exception& error) {
    return complain(error.what(), exit_own_error);
  }
}

}  // namespace turno::cli

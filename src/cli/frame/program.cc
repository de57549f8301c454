#include "cli/frame/program.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
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
  std::vector<std::string> given(argv + 1, argv + argc);
  if (!given.empty() && given[0] == "help") {
    if (given.size() == 1) {
      fmt::print("{}", line.help());
      return 0;
    }
    given.erase(given.begin());
    given.emplace_back("--help");
  }
  if (given.size() == 1 && given[0] == "version") given[0] = "--version";
  if (!given.empty()) refuse_unknown_command(app, given[0]);
  auto words = split_words(app, std::move(given));
  command = std::move(words.command);
  if (!line.parse(std::move(words.own))) return 0;
  return job();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  // Also if nothing can be written: the status is what is left to tell.
  const auto complain = [&](const char* what, int status) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), what);
    return status;
  };
  try {
    const auto status = run(program, argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    const auto why = std::string("cannot write to standard output: ") + std::strerror(errno);
    return complain(why.c_str(), exit_own_error);
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

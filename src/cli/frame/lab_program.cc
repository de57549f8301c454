#include "cli/frame/lab_program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/assert.h"

namespace turno::cli {

namespace {

constexpr auto lab_name = "turno-lab";

// Empty if there is none beside this program.
std::string beside_this_program() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const auto path = self.parent_path() / lab_name;
  return ::access(path.c_str(), X_OK) == 0 ? path.string() : "";
}

}  // namespace

bool is_lab_command(std::string_view name) {
  return std::ranges::find(lab_commands, name, &LabCommand::name) != lab_commands.end();
}

Command add_lab_command(Command app, std::string_view name) {
  const auto found = std::ranges::find(lab_commands, name, &LabCommand::name);
  TURNO_ASSERT(found != lab_commands.end());
  return app.add_subcommand(std::string(found->name), std::string(found->help));
}

int become_lab(char** argv) {
  if (const auto path = beside_this_program(); !path.empty()) ::execv(path.c_str(), argv);
  ::execvp(lab_name, argv);
  std::fprintf(
      stderr,
      "turno: '%s' is a command of the program turno-lab, which is neither beside turno nor "
      "on the path: %s\nBuild it with 'make lab-program', or install the package turno-lab.\n",
      argv[1], std::strerror(errno));
  return exit_own_error;
}

std::string ask_lab(const std::vector<std::string>& words) {
  const auto path = beside_this_program();
  std::string line = "'" + (path.empty() ? lab_name : path) + "'";
  for (const auto& word : words) line += " '" + word + "'";
  line += " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const auto got = pipe ? std::fread(buffer.data(), 1, buffer.size(), pipe.get()) : 0)
    text.append(buffer.data(), got);
  return text;
}

}  // namespace turno::cli

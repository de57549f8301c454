#include "cli/experiments/pictures.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "lab/plot.h"

namespace turno::cli {

namespace {

// Runs gnuplot in the folder, on a script there.
void run_gnuplot(const std::string& gnuplot, const std::filesystem::path& folder,
                 const std::string& script) {
  const auto child = ::fork();
  if (child == 0) {
    if (::chdir(folder.c_str()) == 0)
      ::execl(gnuplot.c_str(), "gnuplot", script.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("gnuplot could not draw {}", (folder / script).string()));
}

}  // namespace

std::string find_gnuplot() {
  const auto* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = folder + "/gnuplot";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::map<std::string, std::string> draw(const std::string& gnuplot,
                                        const std::vector<lab::FigureValues>& figures,
                                        const ResultFolder& folder) {
  std::map<std::string, std::string> pictures;
  for (const auto& figure : figures) {
    if (!lab::has_picture(figure)) continue;
    const auto& name = figure.figure->name;
    const auto svg = lab::plot_script(figure, lab::Picture::svg, name + ".svg");
    folder.write(name + ".gp", svg + "unset output\nreset\n" +
                                   lab::plot_script(figure, lab::Picture::png, name + ".png"));
    run_gnuplot(gnuplot, folder.path(), name + ".gp");
    pictures[name] = read_file(folder.path() / (name + ".svg"));
  }
  return pictures;
}

}  // namespace turno::cli

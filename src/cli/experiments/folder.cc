#include "cli/experiments/folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "cli/frame/output_file.h"
#include "lab/run_log.h"

namespace turno::cli {

namespace fs = std::filesystem;

namespace {

constexpr auto log_name = "runs.log";

// The folder that `latest` names, if its experiment is to go on there.
fs::path unfinished(const fs::path& all, const std::string& first_line) {
  std::error_code failed;
  const auto target = fs::read_symlink(all / "latest", failed);
  if (failed) return {};
  const auto path = all / target;
  if (fs::exists(path / ResultFolder::result_name)) return {};
  return read_file(path / log_name).starts_with(first_line) ? path : fs::path();
}

void point_to(const fs::path& link, const std::string& target) {
  // Replaced in one step, so that there always is one.
  const auto fresh = link.string() + ".new";
  fs::remove(fresh);
  fs::create_directory_symlink(target, fresh);
  fs::rename(fresh, link);
}

}  // namespace

std::string time_now() {
  const auto now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%dT%H%M%SZ}", fmt::gmtime(now));
}

std::string this_program() {
  static const auto text = [] {
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : read_file("/proc/self/exe"))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return fmt::format("turno-lab {} ({:016x})", TURNO_VERSION, hash);
  }();
  return text;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

ResultFolder::ResultFolder(const fs::path& results, const std::string& name,
                           const std::string& time, const std::string& made_by) {
  const auto all = results / name;
  const auto first = lab::first_line(made_by);
  path_ = time.empty() ? unfinished(all, first) : all / time;
  if (path_.empty()) {
    path_ = all / time_now();
    for (int i = 2; fs::exists(path_); ++i) path_ = all / fmt::format("{}-{}", time_now(), i);
  }
  fs::create_directories(path_);
  finished_ = lab::read_log(read_file(path_ / log_name), made_by);
  // Without what was not whole at its end.
  auto known = first;
  for (const auto& [task, measured] : finished_) known += lab::log_line(task, measured);
  write(log_name, known);
  log_ = std::fopen((path_ / log_name).c_str(), "a");
  if (log_ == nullptr)
    throw std::runtime_error(
        fmt::format("cannot write {}: {}", (path_ / log_name).string(), std::strerror(errno)));
  point_to(all / "latest", path_.filename());
}

ResultFolder::~ResultFolder() {
  if (log_ != nullptr) std::fclose(log_);
}

void ResultFolder::add(const std::string& task, const lab::Measured& measured) {
  std::fputs(lab::log_line(task, measured).c_str(), log_);
  if (std::fflush(log_) != 0)
    throw std::runtime_error(
        fmt::format("cannot write {}: {}", (path_ / log_name).string(), std::strerror(errno)));
}

void ResultFolder::write(const std::string& file, const std::string& text) const {
  OutputFile out((path_ / file).string());
  out.write(text);
  out.commit();
}

}  // namespace turno::cli

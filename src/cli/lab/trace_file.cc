#include "cli/lab/trace_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cli/ui/show.h"
#include "core/usage_error.h"

namespace turno::cli {

void TraceOptions::add_to(Command command, const std::string& help) {
  command.add_option("--trace", path, help);
  command.add_flag("--open", open, "Show the trace in a browser of this machine, until Ctrl-C");
  command.exclusive("--open", "--json");
}

void TraceOptions::add_states_to(Command command) {
  command.add_flag("--states", states,
                   "Each step of the trace tells the state of its node (with --open always)");
}

TraceFile::TraceFile(const TraceOptions& options, std::string_view name)
    : open_(options.open), path_(options.path) {
  if (open_ && options.alone())
    throw UsageError("--open shows a file: give --trace a name, or leave it away");
  if (path_.empty()) {
    directory_ = std::filesystem::temp_directory_path() / "turno-XXXXXX";
    if (::mkdtemp(directory_.data()) == nullptr)
      throw std::runtime_error("cannot make a directory " + directory_ + ": " +
                               std::strerror(errno));
    path_ = directory_ + "/" + std::string(name) + ".jsonl";
  }
  file_ = std::make_unique<OutputFile>(path_);
}

TraceFile::~TraceFile() {
  file_.reset();
  if (directory_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void TraceFile::write(const TraceStep& step) {
  pass_on();
  last_ = json_line(step);
}

void TraceFile::violated(const Json& violation) {
  if (last_.empty()) return;
  last_.insert(last_.size() - 1, ",\"violates\":" + violation.text());
}

void TraceFile::commit() {
  pass_on();
  file_->commit();
}

void TraceFile::show() const {
  if (open_) show_page(path_);
}

void TraceFile::pass_on() {
  if (!last_.empty()) file_->write(last_ + "\n");
  last_.clear();
}

}  // namespace turno::cli

// What --trace, --states and --open ask for: the file of a run or of a counterexample, and the page
// that shows it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "cli/frame/output_file.h"
#include "core/text/json.h"
#include "core/text/trace.h"

namespace turno::cli {

struct TraceOptions {
  std::string path;
  bool states = false, open = false;

  // `help` is that of --trace.
  void add_to(Command command, const std::string& help);
  void add_states_to(Command command);

  [[nodiscard]] bool wanted() const { return !path.empty() || open; }
  [[nodiscard]] bool with_states() const { return states || open; }
  // Standard output is the trace alone.
  [[nodiscard]] bool alone() const { return path == "-"; }
};

class TraceFile {
 public:
  // A file that nobody named is `name`, in a directory that goes when this goes.
  TraceFile(const TraceOptions& options, std::string_view name);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void write(const TraceStep& step);
  // The step that was written last breaks what this says.
  void violated(const Json& violation);
  void commit();

  // After commit: serves the page with the file until Ctrl-C, if that was asked for.
  void show() const;

 private:
  void pass_on();

  const bool open_;
  std::string directory_;  // of a file that nobody named
  std::string path_;
  std::unique_ptr<OutputFile> file_;
  std::string last_;  // is not written before it is known that it breaks nothing
};

}  // namespace turno::cli

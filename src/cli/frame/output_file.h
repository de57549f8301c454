// A file that is either complete or not there. It is written beside its place and moved there by
// `commit`; a failure (full disk, no permission) throws and leaves what was there before. "-" is
// standard output. A device or a pipe is written directly.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace turno::cli {

class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // without commit: nothing remains

  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& doing) const;

  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
};

}  // namespace turno::cli

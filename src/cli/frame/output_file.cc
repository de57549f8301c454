#include "cli/frame/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace turno::cli {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") {
    file_ = stdout;
    return;
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (!special) temporary_ = path + "." + std::to_string(::getpid()) + ".part";
  file_ = std::fopen(special ? path.c_str() : temporary_.c_str(), "w");
  if (file_ == nullptr) fail("open");
}

OutputFile::~OutputFile() {
  if (file_ == nullptr || file_ == stdout) return;
  std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("write");
}

void OutputFile::commit() {
  if (std::fflush(file_) != 0) fail("write");
  if (file_ == stdout) return;
  if (!temporary_.empty() && ::fsync(::fileno(file_)) != 0) fail("write");
  const auto closed = std::fclose(file_);
  file_ = nullptr;
  if (closed == 0 && temporary_.empty()) return;
  if (closed == 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
  const auto error = errno;
  ::unlink(temporary_.c_str());
  errno = error;
  fail("write");
}

void OutputFile::fail(const std::string& doing) const {
  throw std::runtime_error("cannot " + doing + " '" + path_ + "': " + std::strerror(errno));
}

}  // namespace turno::cli

// Where an experiment's results are: results/NAME/TIME, with a link `latest`.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "lab/values.h"

namespace turno::cli {

std::string time_now();      // as a name of a folder, UTC
std::string this_program();  // what is written into logs: its version and what it is made of

class ResultFolder {
 public:
  // Goes on in the latest folder if it is not finished and was made by the same program in the same
  // way; or in that of `time`, if given. Throws std::runtime_error.
  ResultFolder(const std::filesystem::path& results, const std::string& name,
               const std::string& time, const std::string& made_by);
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  ~ResultFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // What was done before.
  [[nodiscard]] const lab::Finished& finished() const { return finished_; }
  void add(const std::string& task, const lab::Measured& measured);
  void write(const std::string& file, const std::string& text) const;

  static constexpr auto result_name = "result.json";

 private:
  std::filesystem::path path_;
  lab::Finished finished_;
  std::FILE* log_ = nullptr;
};

// Empty if there is none.
std::string read_file(const std::filesystem::path& path);

}  // namespace turno::cli

// What turno demo shared-file did, printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/demo/shared_file.h"
#include "cluster/view.h"

namespace turno::cli {

struct DemoReport {
  std::uint64_t seed = 0;
  std::filesystem::path file;
  bool file_stays = false;
  std::string algorithm;               // empty: without lock
  std::vector<cluster::Member> nodes;  // of process 1, 2, ...; from the start again if too few
  Expectation expected;
  Verdict verdict;
  std::chrono::milliseconds elapsed{0};

  void print_text() const;  // in colour on a terminal
  void print_json() const;

 private:
  [[nodiscard]] std::string node_of(std::size_t process) const;
  [[nodiscard]] std::string table() const;
};

}  // namespace turno::cli

// What a simulated or a real run was asked for, and how its results are shown.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "catalogue/catalogue.h"
#include "cli/lab/options/fault_options.h"
#include "cli/lab/options/primitive_options.h"
#include "cli/lab/options/workload_options.h"
#include "cli/lab/trace_file.h"
#include "sim/statistics.h"

namespace turno::cli {

struct RunRequest {
  std::string algorithm;
  System system;
  Workload workload;
  PrimitiveOptions primitive;
  Calamities calamities;
  std::string channels;
  std::string as_published, without;
  TraceOptions trace;
  std::uint64_t repeat = 1;
  bool json = false, nodes_given = false, arrivals_given = false;
  std::vector<std::string> about_users;  // options that are given

  // What is not the algorithm itself; empty: it is.
  [[nodiscard]] const std::string& variant() const {
    return as_published.empty() ? without : as_published;
  }
};

// What is to be said of a run on real processes beyond what a simulated one has.
struct RealRun {
  std::size_t processes = 0;
  double seconds = 0, lag_mean_ms = 0, lag_p99_ms = 0, lag_max_ms = 0;
};

struct Runs {
  std::vector<sim::Result> results;
  std::vector<RealRun> real;  // empty: they were simulated
  double scale = 1;

  template <class Get>
  [[nodiscard]] sim::Estimate over(Get get) const {
    std::vector<double> values;
    for (const auto& result : results) values.push_back(get(result));
    return sim::estimate(values);
  }
  template <class Get>
  [[nodiscard]] auto total(Get get) const {
    auto sum = get(results.front());
    for (std::size_t i = 1; i < results.size(); ++i) sum += get(results[i]);
    return sum;
  }
  template <class Get>
  [[nodiscard]] auto largest(Get get) const {
    auto most = get(results.front());
    for (const auto& result : results) most = std::max(most, get(result));
    return most;
  }
  [[nodiscard]] std::string violation() const {
    for (const auto& result : results)
      if (!result.violation.empty()) return result.violation;
    return "";
  }
  // One run: its digest. Several: a digest of theirs.
  [[nodiscard]] std::string digest() const {
    if (results.size() == 1) return fmt::format("{:016x}", results.front().digest);
    Digest digest;
    for (const auto& result : results) digest.add(result.digest);
    return fmt::format("{:016x}", digest.value());
  }
};

// As text or as JSON, as it was asked for.
void report(const RunRequest& request, const sim::Options& options, const Algorithm& algorithm,
            const Runs& runs);

}  // namespace turno::cli

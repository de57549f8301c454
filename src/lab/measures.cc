#include "lab/measures.h"

#include <algorithm>
#include <cmath>

namespace turno::lab {

namespace {

// A '-' would be taken for a minus.
std::string as_name(std::string text) {
  std::ranges::replace(text, '-', '_');
  return text;
}

}  // namespace

Measured measure(const sim::Result& result) {
  Measured measured{.violation = result.violation};
  auto& values = measured.values;
  const auto add = [&](const std::string& name, auto value) {
    values[name] = static_cast<double>(value);
  };
  add("entries", result.entries);
  add("messages", result.messages);
  add("messages_per_entry", result.messages_per_entry());
  for (const auto& [kind, count] : result.messages_by_kind) add("messages." + as_name(kind), count);
  add("messages_local", result.messages_local);
  add("messages_remote", result.messages_remote);
  add("preemptions", result.preemptions);
  add("wait_ms", result.wait_mean_ms);
  add("wait_p50_ms", result.wait_p50_ms);
  add("wait_p99_ms", result.wait_p99_ms);
  add("wait_max_ms", result.wait_max_ms);
  add("wait_sum_ms", result.wait_sum_ms);
  if (result.logical.measured) {
    add("logical.control", result.logical.control);
    add("logical.tokens", result.logical.tokens);
    add("logical.total", result.logical.control + result.logical.tokens);
    add("logical.critical_path", result.logical.critical_path);
    add("logical.printed", result.logical.printed_control + result.logical.printed_tokens);
  }
  add("inside_max", result.inside_max);
  add("inside_mean", result.inside_mean);
  add("sessions", result.sessions);
  add("lost_arrivals", result.lost_arrivals);
  add("waiting_at_end", result.waiting_at_end);
  add("fairness", result.fairness);
  add("entries_per_second", result.entries_per_second());
  add("run_seconds", result.simulated_seconds);
  add("events", result.events);
  add("suspicions", result.suspicions);
  add("detection_mean_ms", result.detection_mean_ms);
  add("detection_max_ms", result.detection_max_ms);
  add("settlings", result.settlings);
  add("settling_mean_ms", result.settling_mean_ms);
  add("settling_max_ms", result.settling_max_ms);
  add("deadlocked", result.deadlocked);
  for (std::size_t i = 0; i < result.entries_by_interval.size(); ++i)
    add("entries_in." + std::to_string(i + 1), result.entries_by_interval[i]);
  for (std::size_t i = 0; i < result.messages_by_interval.size(); ++i)
    for (std::size_t k = 0; k < result.messages_by_kind.size(); ++k)
      add("messages_in." + std::to_string(i + 1) + "." + as_name(result.messages_by_kind[k].first),
          result.messages_by_interval[i][k]);
  return measured;
}

double value_of(const Measured& measured, const std::string& name) {
  const auto found = measured.values.find(name);
  if (found != measured.values.end()) return found->second;
  return name.starts_with("entries_in.") || name.starts_with("messages_in.") ? 0 : std::nan("");
}

}  // namespace turno::lab

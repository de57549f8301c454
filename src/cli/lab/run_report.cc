#include "cli/lab/run_report.h"

#include "cli/frame/progress.h"
#include "cli/lab/autonomous_report.h"
#include "core/text/json.h"

namespace turno::cli {

namespace {

#define TURNO_FIELD(name) [](const sim::Result& r) { return r.name; }

// One list for all runs: the sums, place by place.
std::vector<std::uint64_t> sums(const Runs& runs, std::vector<std::uint64_t> sim::Result::*counts) {
  std::vector<std::uint64_t> sum;
  for (const auto& result : runs.results) {
    const auto& next = result.*counts;
    sum.resize(std::max(sum.size(), next.size()));
    for (std::size_t i = 0; i < next.size(); ++i) sum[i] += next[i];
  }
  return sum;
}

std::string listed(const std::vector<std::uint64_t>& numbers, std::string_view separator) {
  return fmt::format("{}", fmt::join(numbers, separator));
}

std::uint64_t messages_of_kind(const Runs& runs, std::string_view wanted) {
  return runs.total([&](const sim::Result& result) {
    for (const auto& [kind, count] : result.messages_by_kind)
      if (kind == wanted) return count;
    return std::uint64_t{0};
  });
}

// What a failure detector inside the algorithm did.
Json detection(const Runs& runs) {
  return Json()
      .add("tests", messages_of_kind(runs, "ping"))
      .add("replies", messages_of_kind(runs, "pong"))
      .add("suspicions", runs.total(TURNO_FIELD(suspicions)))
      .add("latency_ms", Json()
                             .add("mean", runs.over(TURNO_FIELD(detection_mean_ms)).mean)
                             .add("max", runs.largest(TURNO_FIELD(detection_max_ms))));
}

double per_session(const Runs& runs, std::uint64_t count) {
  const auto sessions = runs.total(TURNO_FIELD(sessions));
  return sessions == 0 ? 0 : static_cast<double>(count) / static_cast<double>(sessions);
}

// What the managers of rooms send each other.
std::uint64_t messages_between_groups(const Runs& runs) {
  return runs.total(TURNO_FIELD(messages)) - messages_of_kind(runs, "join") -
         messages_of_kind(runs, "enter") - messages_of_kind(runs, "done");
}

void add_sessions(const Runs& runs, Json& json) {
  json.add("sessions", runs.total(TURNO_FIELD(sessions)))
      .add("messages_per_session", per_session(runs, runs.total(TURNO_FIELD(messages))))
      .add("group_messages_per_session", per_session(runs, messages_between_groups(runs)))
      .add("processes_per_session", per_session(runs, runs.total(TURNO_FIELD(entries))))
      .add("inside_mean", runs.over(TURNO_FIELD(inside_mean)).mean)
      .add("recalls", messages_of_kind(runs, "recall"));
}

std::string seeds(const RunRequest& request) {
  const auto first = request.system.seed;
  return request.repeat == 1 ? fmt::format("{}", first)
                             : fmt::format("{} to {}", first, first + request.repeat - 1);
}

std::string delays(const sim::Options& options) {
  if (options.setup.sites.of.empty()) return options.delay.text();
  return fmt::format("{} within sites, {} between them", options.delay.text(),
                     options.sites.remote.text());
}

// Of runs on real processes: of all, the means; of the longest lag, the longest.
RealRun summed(const Runs& runs) {
  RealRun sum;
  const auto count = static_cast<double>(runs.real.size());
  for (const auto& run : runs.real) {
    sum.processes = run.processes;
    sum.seconds += run.seconds;
    sum.lag_mean_ms += run.lag_mean_ms / count;
    sum.lag_p99_ms += run.lag_p99_ms / count;
    sum.lag_max_ms = std::max(sum.lag_max_ms, run.lag_max_ms);
  }
  return sum;
}

void add_real(const Runs& runs, Json& json) {
  if (runs.real.empty()) return;
  const auto real = summed(runs);
  json.add("real", Json()
                       .add("processes", real.processes)
                       .add("scale", runs.scale)
                       .add("seconds", real.seconds)
                       .add("lag_ms", Json()
                                          .add("mean", real.lag_mean_ms)
                                          .add("p99", real.lag_p99_ms)
                                          .add("max", real.lag_max_ms)));
}

void print_real(const Runs& runs) {
  if (runs.real.empty()) return;
  const auto real = summed(runs);
  fmt::print("  on processes        {}, for {:.1f} s, at scale {}\n", real.processes, real.seconds,
             runs.scale);
  fmt::print("  lag of events       {:.3f} ms on average, 99 % {:.3f} ms, longest {:.3f} ms\n",
             real.lag_mean_ms, real.lag_p99_ms, real.lag_max_ms);
}

// Of what has no users.
void print_autonomous(const RunRequest& request, const sim::Options& options,
                      const Algorithm& algorithm, const Runs& runs) {
  const auto& info = algorithm.info;
  const auto events = runs.total(TURNO_FIELD(events));
  if (!request.json) {
    fmt::print("{}: {}\n{} nodes{}, delay {}, seed {}, until {}\n\n{}", info.name, info.title,
               request.system.nodes, request.primitive.text(algorithm), options.delay.text(),
               seeds(request),
               options.until > 0 ? sim::duration_text(options.until) : "nothing happens any more",
               autonomous_text(info, runs.results));
    fmt::print("  events              {}\n  digest              {}\n", events, runs.digest());
    print_real(runs);
    if (!runs.violation().empty()) fmt::print("\nVIOLATED: {}\n", runs.violation());
    return;
  }
  Json json;
  json.add("algorithm", info.name);
  if (const auto variant = request.variant(); !variant.empty()) json.add("variant", variant);
  json.add("nodes", request.system.nodes).add("channels", options.fifo ? "fifo" : "unordered");
  request.primitive.describe(algorithm, json);
  if (info.primitive == Primitive::detection) json.add("arrivals", options.arrivals.text());
  json.add("delay", options.delay.text()).add("seed", request.system.seed);
  if (options.until > 0) json.add("until", sim::duration_text(options.until));
  add_autonomous(info, runs.results, json);
  json.add("simulated_seconds", runs.total(TURNO_FIELD(simulated_seconds)))
      .add("digest", runs.digest())
      .add("events", events);
  if (runs.results.size() > 1) json.add("repeat", runs.results.size());
  add_real(runs, json);
  if (!runs.violation().empty()) json.add("violation", runs.violation());
  fmt::print("{}\n", json.text());
}

void print_json(const RunRequest& request, const sim::Options& options, const Algorithm& algorithm,
                const Runs& runs) {
  const auto& info = algorithm.info;
  Json kinds;
  for (std::size_t i = 0; i < runs.results.front().messages_by_kind.size(); ++i)
    kinds.add(runs.results.front().messages_by_kind[i].first,
              runs.total([&](const sim::Result& r) { return r.messages_by_kind[i].second; }));
  const auto per_entry = runs.over(TURNO_FIELD(messages_per_entry()));
  const auto wait = runs.over(TURNO_FIELD(wait_mean_ms));
  const auto p50 = runs.over(TURNO_FIELD(wait_p50_ms));
  const auto p99 = runs.over(TURNO_FIELD(wait_p99_ms));
  const auto events = runs.total(TURNO_FIELD(events));
  const auto cpu = runs.total(TURNO_FIELD(cpu_seconds));
  Json json;
  json.add("algorithm", info.name);
  if (const auto variant = request.variant(); !variant.empty()) json.add("variant", variant);
  json.add("nodes", request.system.nodes)
      .add("topology",
           request.system.topology.empty() ? default_topology(info) : request.system.topology)
      .add("channels", options.fifo ? "fifo" : "unordered");
  if (!request.system.quorums.empty()) json.add("quorums", request.system.quorums);
  if (request.system.carry) json.add("carry", *request.system.carry);
  request.primitive.describe(algorithm, json);
  json.add("arrivals", options.arrivals.text())
      .add("busy", options.busy == sim::Busy::lose ? "lose" : "queue")
      .add("hold", options.hold.text())
      .add("delay", options.delay.text())
      .add("seed", request.system.seed)
      .add("entries", runs.total(TURNO_FIELD(entries)))
      .add("messages", runs.total(TURNO_FIELD(messages)))
      .add("messages_per_entry", per_entry.mean)
      .add("messages_by_kind", kinds)
      .add("wait_ms", Json()
                          .add("mean", wait.mean)
                          .add("p50", p50.mean)
                          .add("p99", p99.mean)
                          .add("max", runs.largest(TURNO_FIELD(wait_max_ms))))
      .add("inside_max", runs.largest(TURNO_FIELD(inside_max)))
      .add("lost_arrivals", runs.total(TURNO_FIELD(lost_arrivals)))
      .add("waiting_at_end", runs.total(TURNO_FIELD(waiting_at_end)))
      .add("fairness", runs.over(TURNO_FIELD(fairness)).mean)
      .add("entries_per_second", runs.over(TURNO_FIELD(entries_per_second())).mean)
      .add("simulated_seconds", runs.total(TURNO_FIELD(simulated_seconds)))
      .add("digest", runs.digest())
      .add("events", events)
      .add("events_per_second", cpu > 0 ? static_cast<double>(events) / cpu : 0.0);
  if (info.primitive == Primitive::room) add_sessions(runs, json);
  add_reservations(runs.results, options, json);
  if (options.interval > 0)
    json.add_raw("entries_by_interval",
                 "[" + listed(sums(runs, &sim::Result::entries_by_interval), ",") + "]");
  if (has_detector(options.setup)) json.add("detector", detection(runs));
  if (runs.results.size() > 1)
    json.add("repeat", runs.results.size())
        .add("ci95",
             Json()
                 .add("messages_per_entry", per_entry.ci95)
                 .add("wait_ms",
                      Json().add("mean", wait.ci95).add("p50", p50.ci95).add("p99", p99.ci95)));
  add_real(runs, json);
  if (!runs.violation().empty()) json.add("violation", runs.violation());
  fmt::print("{}\n", json.text());
}

std::string with_interval(const sim::Estimate& estimate, std::size_t runs, int digits) {
  auto text = fmt::format("{:.{}f}", estimate.mean, digits);
  return runs > 1 ? text + fmt::format(" +- {:.{}f}", estimate.ci95, digits) : text;
}

void print_text(const RunRequest& request, const sim::Options& options, const Info& info,
                const Runs& runs) {
  const auto n = runs.results.size();
  const auto reading = request.variant();
  fmt::print("{}{}: {}\n", info.name, reading.empty() ? "" : fmt::format(" ({})", reading),
             info.title);
  fmt::print("{} nodes, {}, arrivals {}, hold {}, delay {}, seed {}\n\n", request.system.nodes,
             request.system.topology.empty() ? default_topology(info) : request.system.topology,
             options.arrivals.text(), options.hold.text(), delays(options), seeds(request));
  fmt::print("  entries             {}\n", runs.total(TURNO_FIELD(entries)));
  fmt::print("  messages per entry  {}{}\n",
             with_interval(runs.over(TURNO_FIELD(messages_per_entry())), n, 4),
             info.low.empty() ? "" : fmt::format("   (alone {}, crowded {})", info.low, info.high));
  for (std::size_t i = 0; i < runs.results.front().messages_by_kind.size(); ++i)
    fmt::print("    {:<17} {}\n", runs.results.front().messages_by_kind[i].first,
               runs.total([&](const sim::Result& r) { return r.messages_by_kind[i].second; }));
  fmt::print("  waiting, mean       {} ms\n",
             with_interval(runs.over(TURNO_FIELD(wait_mean_ms)), n, 3));
  fmt::print("    median            {} ms\n",
             with_interval(runs.over(TURNO_FIELD(wait_p50_ms)), n, 3));
  fmt::print("    99 %              {} ms\n",
             with_interval(runs.over(TURNO_FIELD(wait_p99_ms)), n, 3));
  fmt::print("    longest           {:.3f} ms\n", runs.largest(TURNO_FIELD(wait_max_ms)));
  fmt::print("  entries per second  {:.3f} of {} time\n",
             runs.over(TURNO_FIELD(entries_per_second())).mean,
             runs.real.empty() ? "simulated" : "the run's");
  fmt::print("  fairness (Jain)     {:.4f}\n", runs.over(TURNO_FIELD(fairness)).mean);
  if (info.primitive == Primitive::room)
    fmt::print(
        "  sessions            {}, of {:.3f} processes each, {:.3f} messages (between groups "
        "{:.3f})\n"
        "  inside              {:.3f} on average while somebody is, {} at most\n",
        runs.total(TURNO_FIELD(sessions)), per_session(runs, runs.total(TURNO_FIELD(entries))),
        per_session(runs, runs.total(TURNO_FIELD(messages))),
        per_session(runs, messages_between_groups(runs)), runs.over(TURNO_FIELD(inside_mean)).mean,
        runs.largest(TURNO_FIELD(inside_max)));
  fmt::print("{}", reservations_text(runs.results, options));
  fmt::print("  lost arrivals       {}\n", runs.total(TURNO_FIELD(lost_arrivals)));
  if (options.until > 0)
    fmt::print("  waiting at the end  {}\n", runs.total(TURNO_FIELD(waiting_at_end)));
  if (options.interval > 0)
    fmt::print("  entries each {:<6} {}\n", sim::duration_text(options.interval),
               listed(sums(runs, &sim::Result::entries_by_interval), " "));
  if (has_detector(options.setup))
    fmt::print("  crashes noticed     {} times, after {:.0f} ms on average, {:.0f} ms at most\n",
               runs.total(TURNO_FIELD(suspicions)), runs.over(TURNO_FIELD(detection_mean_ms)).mean,
               runs.largest(TURNO_FIELD(detection_max_ms)));
  const auto events = runs.total(TURNO_FIELD(events));
  const auto cpu = runs.total(TURNO_FIELD(cpu_seconds));
  if (runs.real.empty()) {
    fmt::print("  events              {}, {} a second of CPU time\n", events,
               brief(cpu > 0 ? static_cast<double>(events) / cpu : 0));
  } else {
    fmt::print("  events              {}\n", events);
  }
  fmt::print("  digest              {}\n", runs.digest());
  print_real(runs);
  if (!runs.violation().empty()) fmt::print("\nVIOLATED: {}\n", runs.violation());
}

#undef TURNO_FIELD

}  // namespace

void report(const RunRequest& request, const sim::Options& options, const Algorithm& algorithm,
            const Runs& runs) {
  if (!has_users(algorithm.info.primitive)) {
    print_autonomous(request, options, algorithm, runs);
  } else {
    request.json ? print_json(request, options, algorithm, runs)
                 : print_text(request, options, algorithm.info, runs);
  }
}

}  // namespace turno::cli

#include "cli/lab/autonomous_report.h"

#include <fmt/format.h>

namespace turno::cli {

namespace {

using Results = std::span<const sim::Result>;

template <class Get>
auto total(Results results, Get get) {
  decltype(get(results.front())) sum{};
  for (const auto& result : results) sum += get(result);
  return sum;
}

// What nodes send only to see whether the coordinator is there is no part of an election.
bool watching(std::string_view kind) { return kind == "ask" || kind == "answer"; }

std::uint64_t messages_of_elections(const sim::Result& result) {
  std::uint64_t sum = 0;
  for (const auto& [kind, count] : result.messages_by_kind) sum += watching(kind) ? 0 : count;
  return sum;
}

// Weighted: a run may settle several times.
double settling_mean(Results results) {
  const auto times = total(results, [](const auto& r) { return r.settlings; });
  const auto sum = total(
      results, [](const auto& r) { return r.settling_mean_ms * static_cast<double>(r.settlings); });
  return times == 0 ? 0 : sum / static_cast<double>(times);
}
double settling_max(Results results) {
  double most = 0;
  for (const auto& result : results) most = std::max(most, result.settling_max_ms);
  return most;
}
double messages_per_settling(Results results) {
  const auto times = total(results, [](const auto& r) { return r.settlings; });
  return times == 0 ? 0
                    : static_cast<double>(total(results, messages_of_elections)) /
                          static_cast<double>(times);
}

}  // namespace

void add_autonomous(const Info& info, Results results, Json& json) {
  Json kinds;
  const auto& first = results.front().messages_by_kind;
  for (std::size_t i = 0; i < first.size(); ++i)
    kinds.add(first[i].first,
              total(results, [&](const auto& r) { return r.messages_by_kind[i].second; }));
  json.add("messages", total(results, [](const auto& r) { return r.messages; }))
      .add("messages_by_kind", kinds);
  if (info.primitive == Primitive::election)
    json.add("settlings", total(results, [](const auto& r) { return r.settlings; }))
        .add("messages_per_settling", messages_per_settling(results))
        .add("settling_ms",
             Json().add("mean", settling_mean(results)).add("max", settling_max(results)));
  if (info.primitive == Primitive::detection)
    json.add("deadlocked", total(results, [](const auto& r) { return r.deadlocked; }));
}

std::string autonomous_text(const Info& info, Results results) {
  auto text = fmt::format("  messages            {}\n",
                          total(results, [](const auto& r) { return r.messages; }));
  const auto& first = results.front().messages_by_kind;
  for (std::size_t i = 0; i < first.size(); ++i)
    text +=
        fmt::format("    {:<17} {}\n", first[i].first,
                    total(results, [&](const auto& r) { return r.messages_by_kind[i].second; }));
  if (info.primitive == Primitive::election)
    text += fmt::format(
        "  agreed again        {} times after crashes and returns\n"
        "    after             {:.1f} ms on average, {:.1f} ms at most\n"
        "    messages each     {:.3f}, without those that ask whether the coordinator is there\n",
        total(results, [](const auto& r) { return r.settlings; }), settling_mean(results),
        settling_max(results), messages_per_settling(results));
  if (info.primitive == Primitive::detection)
    text += fmt::format("  deadlocked          {}, as they found out or were told\n",
                        total(results, [](const auto& r) { return r.deadlocked; }));
  return text;
}

}  // namespace turno::cli

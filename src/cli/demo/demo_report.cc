#include "cli/demo/demo_report.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "cli/frame/readable.h"
#include "cli/frame/table.h"
#include "core/text/json.h"

namespace turno::cli {

namespace {

constexpr auto red = "\033[31m", green = "\033[32m", plain = "\033[0m";

std::string coloured(const char* colour, const std::string& text) {
  static const bool wanted = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return wanted ? colour + text + plain : text;
}

std::set<std::size_t> wrong_lines(const Verdict& verdict) {
  std::set<std::size_t> lines;
  for (const auto& violation : verdict.violations) lines.insert(violation.line);
  return lines;
}

}  // namespace

std::string DemoReport::node_of(std::size_t process) const {
  return nodes.empty() || process == 0 ? "" : nodes[(process - 1) % nodes.size()].name;
}

std::string DemoReport::table() const {
  const auto wrong = wrong_lines(verdict);
  std::vector<std::string> header{"line", "process", "read", "operation", "wrote"};
  if (expected.locked) header.insert(header.begin() + 2, "node");
  if (expected.locked) header.emplace_back("fence");
  header.emplace_back("");
  Table rows(header);
  std::vector<std::string> first(header.size(), "");
  first[0] = '1';
  first[expected.locked ? 5 : 4] = std::to_string(expected.start);
  rows.add(first);
  for (std::size_t i = 0; i < verdict.records.size(); ++i) {
    const auto record = verdict.records[i].value_or(Record{});
    std::vector<std::string> row{std::to_string(i + 2), std::to_string(record.process),
                                 std::to_string(record.read),
                                 operation_of(record.process).text(std::to_string(record.read)),
                                 std::to_string(record.result)};
    if (!verdict.records[i]) row.assign(5, "?");
    if (expected.locked) row.insert(row.begin() + 2, node_of(record.process));
    if (expected.locked) row.push_back(std::to_string(record.fence));
    row.emplace_back(wrong.contains(i + 2) ? "<- wrong" : "");
    rows.add(row);
  }
  // Coloured only now: a table counts what it prints.
  std::istringstream lines(rows.text());
  std::string text;
  for (std::string line; std::getline(lines, line);)
    text += (line.ends_with("<- wrong") ? coloured(red, line) : line) + "\n";
  return text;
}

void DemoReport::print_text() const {
  const auto where = file_stays ? file.string() : std::string("a temporary file");
  fmt::print("Process 1 to {} each append {} to {}:\n", expected.processes,
             counted(expected.operations, "line"), where);
  fmt::print("each reads the last value and writes the result of its own operation.\n");
  if (expected.locked) {
    fmt::print("They take turns by a lock: {}, algorithm {}. Seed {}.\n\n",
               counted(nodes.size(), "node"), algorithm, seed);
  } else {
    fmt::print("They take no turns. Seed {}.\n\n", seed);
  }
  fmt::print("{}\n", table());
  const auto& violations = verdict.violations;
  if (violations.empty()) {
    fmt::print("{}: {} in {}, each on the result of the one before{}.\n",
               coloured(green, "Verified"), counted(verdict.records.size(), "operation"),
               readable(elapsed), expected.locked ? "; the fences only grew" : "");
    return;
  }
  const auto& [line, what] = violations.front();
  auto wrong = wrong_lines(verdict);
  wrong.erase(0);
  fmt::print("{}: {} of {} are wrong. The first:\n{}{}.\n", coloured(red, "Corrupt"), wrong.size(),
             counted(verdict.records.size() + 1, "line"),
             line == 0 ? std::string() : fmt::format("line {}: ", line), printable(what));
  if (!expected.locked)
    fmt::print("That is what a lock prevents: {} demo shared-file --seed {}\n", program(), seed);
}

void DemoReport::print_json() const {
  std::vector<Json> lines, violations;
  for (std::size_t i = 0; i < verdict.records.size(); ++i) {
    if (!verdict.records[i]) continue;
    const auto& record = *verdict.records[i];
    auto line = Json().add("line", i + 2).add("process", record.process).add("turn", record.turn);
    if (expected.locked) line.add("node", printable(node_of(record.process)));
    line.add("read", record.read)
        .add("operation", operation_of(record.process).text("x"))
        .add("wrote", record.result);
    if (expected.locked) line.add("fence", Fence{record.fence});
    lines.push_back(line);
  }
  for (const auto& [line, what] : verdict.violations)
    violations.push_back(Json().add("line", line).add("what", printable(what)));
  Json json;
  json.add("verified", verdict.violations.empty()).add("locked", expected.locked);
  if (expected.locked) json.add("algorithm", algorithm).add("nodes", nodes.size());
  json.add("processes", expected.processes).add("operations", expected.operations);
  if (file_stays) json.add("file", printable(file.native()));
  fmt::print("{}\n", json.add("seed", seed)
                         .add("start", expected.start)
                         .add("elapsed_ms", elapsed.count())
                         .add("lines", lines)
                         .add("violations", violations)
                         .text());
}

}  // namespace turno::cli

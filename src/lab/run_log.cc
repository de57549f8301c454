#include "lab/run_log.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>

namespace turno::lab {

namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Measured> read_line(const std::string& line, std::string& task) {
  std::istringstream in(line);
  Measured measured;
  std::string seconds, values, end;
  if (!std::getline(in, task, '\t') || !std::getline(in, seconds, '\t') ||
      !std::getline(in, measured.violation, '\t') || !std::getline(in, values, '\t') ||
      !std::getline(in, end) || end != ".")
    return std::nullopt;
  const auto took = number(seconds);
  if (!took) return std::nullopt;
  measured.seconds = *took;
  std::istringstream list(values);
  for (std::string word; list >> word;) {
    const auto equals = word.find('=');
    const auto value = equals == std::string::npos ? std::nullopt : number(word.substr(equals + 1));
    if (!value) return std::nullopt;
    measured.values[word.substr(0, equals)] = *value;
  }
  return measured;
}

}  // namespace

std::string first_line(std::string_view program) { return fmt::format("runs of {}\n", program); }

std::string log_line(const std::string& task, const Measured& measured) {
  auto violation = measured.violation;
  for (auto& c : violation)
    if (c == '\t' || c == '\n') c = ' ';
  auto line = fmt::format("{}\t{}\t{}\t", task, measured.seconds, violation);
  for (const auto& [name, value] : measured.values) line += fmt::format("{}={} ", name, value);
  return line + "\t.\n";
}

Finished read_log(const std::string& text, std::string_view program) {
  Finished finished;
  const auto first = first_line(program);
  if (!text.starts_with(first)) return finished;
  for (std::size_t at = first.size();;) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) return finished;
    std::string task;
    if (auto measured = read_line(text.substr(at, end - at), task))
      finished.emplace(std::move(task), std::move(*measured));
    at = end + 1;
  }
}

}  // namespace turno::lab

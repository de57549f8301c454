#include "port/http/exposition.h"

#include <fmt/format.h>

#include <iterator>

#include "core/assert.h"

namespace turno::port {

namespace {

void escape(std::string& out, std::string_view text, bool quoted) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quoted && c == '"')) out += '\\';
    out += c;
  }
}

}  // namespace

Exposition& Exposition::counter(std::string_view name, std::string_view help) {
  begin(name, help, "counter");
  return *this;
}

Exposition& Exposition::gauge(std::string_view name, std::string_view help) {
  begin(name, help, "gauge");
  return *this;
}

void Exposition::begin(std::string_view name, std::string_view help, std::string_view kind) {
  family_ = name;
  fmt::format_to(std::back_inserter(out_), "# HELP {} ", name);
  escape(out_, help, false);
  fmt::format_to(std::back_inserter(out_), "\n# TYPE {} {}\n", name, kind);
}

void Exposition::line(std::string_view suffix, Labels labels, std::string_view value) {
  out_ += family_;
  out_ += suffix;
  char separator = '{';
  for (const auto& [name, text] : labels) {
    out_ += separator;
    separator = ',';
    out_ += name;
    out_ += "=\"";
    escape(out_, text, true);
    out_ += '"';
  }
  if (separator == ',') out_ += '}';
  out_ += ' ';
  out_ += value;
  out_ += '\n';
}

Exposition& Exposition::sample(Labels labels, std::uint64_t value) {
  line({}, labels, std::to_string(value));
  return *this;
}

Exposition& Exposition::sample(Labels labels, std::int64_t value) {
  line({}, labels, std::to_string(value));
  return *this;
}

Exposition& Exposition::sample(Labels labels, double value) {
  line({}, labels, fmt::format("{}", value));
  return *this;
}

void Exposition::histogram(std::string_view name, std::string_view help,
                           std::span<const std::uint64_t> bounds_us,
                           std::span<const std::uint64_t> counts, double sum) {
  TURNO_ASSERT(counts.size() == bounds_us.size() + 1);
  begin(name, help, "histogram");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    count += counts[i];
    const auto bound = i < bounds_us.size()
                           ? fmt::format("{}", static_cast<double>(bounds_us[i]) / 1e6)
                           : std::string("+Inf");
    line("_bucket", {{"le", bound}}, std::to_string(count));
  }
  line("_sum", {}, fmt::format("{}", sum));
  line("_count", {}, std::to_string(count));
}

}  // namespace turno::port

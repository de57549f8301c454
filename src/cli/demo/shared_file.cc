#include "cli/demo/shared_file.h"

#include <fmt/format.h>

#include <charconv>

namespace turno::cli {

namespace {

// The numbers in a text, in order; whatever is between them is for the caller to compare.
std::optional<std::vector<std::uint64_t>> numbers_in(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  const auto* at = text.data();
  const auto* end = at + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    const auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc()) return std::nullopt;
    at = rest;
  }
  return numbers;
}

std::optional<std::int64_t> value_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value >= Operation::modulus) return std::nullopt;
  return value;
}

// Reads the lines one after another and says what is wrong with each.
class Verification {
 public:
  explicit Verification(const Expectation& expected)
      : expected_(expected), last_(expected.start), turns_(expected.processes, 0) {}

  void first(std::string_view line) {
    line_ = 1;
    if (value_in(line) != expected_.start)
      violate(
          fmt::format("it began with {}, and now the first line is '{}'", expected_.start, line));
  }

  void next(std::string_view line) {
    ++line_;
    const auto& record = verdict_.records.emplace_back(parse_record(line));
    if (!record) return violate(fmt::format("'{}' is not what a process writes", line));
    check_process(*record);
    check_values(*record);
    check_fence(*record);
    last_ = record->result;
    last_process_ = record->process;
  }

  Verdict finish() {
    line_ = 0;
    for (std::size_t i = 0; i < turns_.size(); ++i)
      if (turns_[i] != expected_.operations)
        violate(fmt::format("process {} did {} of its {} operations", i + 1, turns_[i],
                            expected_.operations));
    return std::move(verdict_);
  }

  void violate(std::string what) { verdict_.violations.push_back({line_, std::move(what)}); }

 private:
  void check_process(const Record& record) {
    if (record.process > turns_.size())
      return violate(fmt::format("there is no process {}", record.process));
    auto& turns = turns_[record.process - 1];
    if (record.turn != turns + 1)
      violate(fmt::format("process {} did its turn {} after its turn {}", record.process,
                          record.turn, turns));
    turns = record.turn;
  }

  void check_values(const Record& record) {
    if (record.read != last_)
      violate(fmt::format(
          "process {} had read {}, but the line before says {}{}", record.process, record.read,
          last_,
          last_process_ == 0
              ? std::string()
              : fmt::format(": process {} wrote that after process {} had read and before it wrote",
                            last_process_, record.process)));
    const auto right = operation_of(record.process).apply(record.read);
    if (record.result != right)
      violate(fmt::format("process {} wrote {}, but {} is {}", record.process, record.result,
                          operation_of(record.process).text(std::to_string(record.read)), right));
  }

  void check_fence(const Record& record) {
    if (expected_.locked && record.fence <= fence_)
      violate(fmt::format("the fence {} is not larger than {} before it", record.fence, fence_));
    fence_ = record.fence;
  }

  const Expectation& expected_;
  Verdict verdict_;
  std::size_t line_ = 0;
  std::int64_t last_;
  std::size_t last_process_ = 0;
  std::uint64_t fence_ = 0;
  std::vector<std::size_t> turns_;  // of each process
};

}  // namespace

Operation operation_of(std::size_t process) {
  return {.addend = static_cast<std::int64_t>(process) * 7 % Operation::modulus};
}

std::string Operation::text(std::string_view operand) const {
  return fmt::format("({} * {} + {}) mod {}", factor, operand, addend, modulus);
}

std::string text_of(const Record& record) {
  return fmt::format("{} = {}, process {}, turn {}{}", record.result,
                     operation_of(record.process).text(std::to_string(record.read)), record.process,
                     record.turn, record.fence == 0 ? "" : fmt::format(", fence {}", record.fence));
}

std::optional<Record> parse_record(std::string_view text) {
  const auto numbers = numbers_in(text);
  if (!numbers || numbers->size() < 7 || numbers->size() > 8) return std::nullopt;
  const auto value = [&](std::size_t i) { return static_cast<std::int64_t>((*numbers)[i]); };
  const Record record{.result = value(0),
                      .read = value(2),
                      .process = (*numbers)[5],
                      .turn = (*numbers)[6],
                      .fence = numbers->size() == 8 ? (*numbers)[7] : 0};
  const auto limit = static_cast<std::uint64_t>(Operation::modulus);
  if ((*numbers)[0] >= limit || (*numbers)[2] >= limit || record.process == 0) return std::nullopt;
  if (text_of(record) != text) return std::nullopt;
  return record;
}

std::optional<std::int64_t> last_value(std::string_view file) {
  if (!file.ends_with('\n')) return std::nullopt;
  file.remove_suffix(1);
  if (const auto end = file.rfind('\n'); end != std::string_view::npos) {
    const auto record = parse_record(file.substr(end + 1));
    return record ? std::optional(record->result) : std::nullopt;
  }
  return value_in(file);
}

Verdict verify(std::string_view file, const Expectation& expected) {
  Verification verification(expected);
  bool first = true;
  while (!file.empty()) {
    const auto end = file.find('\n');
    const auto line = file.substr(0, end);
    first ? verification.first(line) : verification.next(line);
    first = false;
    if (end == std::string_view::npos) verification.violate("the last line has no end");
    file.remove_prefix(end == std::string_view::npos ? file.size() : end + 1);
  }
  if (first) verification.violate("the file is empty");
  return verification.finish();
}

}  // namespace turno::cli

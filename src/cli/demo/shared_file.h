// The file of the demonstration: a first value, and then one line for each operation of a process,
// which reads the last value of the file and appends the result.
//
//   4711
//   4167 = (3 * 4711 + 7) mod 9973, process 1, turn 1, fence 5497558138881
//
// Pure: the file is text here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace turno::cli {

// Each process has its own: 3x + addend. From one value two processes never make the same one, for
// their addends differ by less than the modulus; and the order of two operations matters.
struct Operation {
  static constexpr std::int64_t factor = 3, modulus = 9973;
  std::int64_t addend = 0;

  [[nodiscard]] std::int64_t apply(std::int64_t value) const {
    return (factor * value + addend) % modulus;
  }
  [[nodiscard]] std::string text(std::string_view operand) const;
};
Operation operation_of(std::size_t process);  // processes count from 1

struct Record {
  std::int64_t result = 0, read = 0;
  std::size_t process = 0, turn = 0;
  std::uint64_t fence = 0;  // 0: without a lock

  bool operator==(const Record&) const = default;
};
std::string text_of(const Record& record);                  // without the end of the line
std::optional<Record> parse_record(std::string_view text);  // only what text_of() makes

// The value on the last line of a file, or nothing if that is no line as above.
std::optional<std::int64_t> last_value(std::string_view file);

struct Expectation {
  std::int64_t start = 0;
  std::size_t processes = 0, operations = 0;  // operations of each process
  bool locked = true;                         // every line has a fence
};

struct Violation {
  std::size_t line = 0;  // from 1; 0: of the file as a whole
  std::string what;
};

struct Verdict {
  std::vector<std::optional<Record>> records;  // of each line but the first; nothing: unreadable
  std::vector<Violation> violations;
};
// Each line continues the one before, each result is right, fences grow, everybody did its part.
Verdict verify(std::string_view file, const Expectation& expected);

}  // namespace turno::cli

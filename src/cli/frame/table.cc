#include "cli/frame/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace turno::cli {

namespace {

bool numeric(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell.front())) != 0) &&
         cell.find_first_not_of("0123456789.,%+-~ xe") == std::string::npos;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> width(header_.size(), 0);
  std::vector<bool> right(header_.size(), false);
  for (std::size_t c = 0; c < header_.size(); ++c) {
    width[c] = header_[c].size();
    for (const auto& row : rows_) {
      width[c] = std::max(width[c], row[c].size());
      right[c] = right[c] || numeric(row[c]);
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) text += "  ";
      text += right[c] ? fmt::format("{:>{}}", cells[c], width[c])
                       : fmt::format("{:<{}}", cells[c], width[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(header_);
  std::size_t total = 0;
  for (auto w : width) total += w + 2;
  text += std::string(total - 2, '-') + "\n";
  for (const auto& row : rows_) text += line(row);
  return text;
}

std::string Table::csv() const {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text;
    for (const auto& cell : cells) text += (&cell == cells.data() ? "" : ",") + csv_cell(cell);
    return text + "\n";
  };
  std::string text = line(header_);
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace turno::cli

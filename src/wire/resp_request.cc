// Requests: the server's parser, and how a client writes them.
#include <cstdio>

#include "wire/resp.h"

namespace turno::wire {

namespace {

struct Number {
  Status status;
  std::size_t value;  // when ready
  std::size_t end;    // behind the line's end
};

// The digits and the line's end that begin at `at`. Anything that is more than nine digits is an
// error: every limit is smaller.
Number read_number(std::string_view text, std::size_t at) {
  std::size_t value = 0;
  const auto first = at;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    if (at - first == 9) return {Status::error, 0, at};
    value = value * 10 + static_cast<std::size_t>(text[at] - '0');
  }
  if (at == text.size()) return {Status::more, 0, at};
  if (at == first || text[at] != '\r') return {Status::error, 0, at};
  if (at + 1 == text.size()) return {Status::more, 0, at};
  if (text[at + 1] != '\n') return {Status::error, 0, at};
  return {Status::ready, value, at + 2};
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Status RequestParser::next() {
  count_ = 0;
  for (;;) {
    if (!error_.empty()) return Status::error;
    const auto text = buffer_.readable();
    if (text.empty()) return Status::more;
    const auto status = text.front() == '*' ? next_array(text) : next_line(text);
    if (status != Status::ready || count_ > 0) return status;
  }
}

// Ready with no argument means: nothing was asked, and it was skipped.
Status RequestParser::next_array(std::string_view text) {
  if (expected_ == 0) {
    if (text.starts_with("*-")) {  // Redis ignores an array that is null
      constexpr std::string_view null_array = "*-1\r\n";
      if (!null_array.starts_with(text.substr(0, null_array.size())))
        return fail("invalid multibulk length");
      if (text.size() < null_array.size()) return Status::more;
      skip(null_array.size());
      return Status::ready;
    }
    const auto number = read_number(text, 1);
    if (number.status == Status::more) return Status::more;
    if (number.status == Status::error) return fail("invalid multibulk length");
    if (number.value > max_arguments) return fail("invalid multibulk length: more than 64");
    if (number.value == 0) {
      skip(number.end);
      return Status::ready;
    }
    expected_ = number.value;
    at_ = number.end;
  }
  for (;;) {
    if (!inside_) {
      if (found_ == expected_) return finish(text);
      if (at_ == text.size()) return Status::more;
      if (text[at_] != '$') return fail_without_dollar(text[at_]);
      const auto number = read_number(text, at_ + 1);
      if (number.status == Status::more) return Status::more;
      if (number.status == Status::error) return fail("invalid bulk length");
      if (number.value > max_argument) return fail("invalid bulk length: more than 65536");
      if (number.end + number.value + 2 > max_request)
        return fail("too big request: more than 262144 bytes");
      places_[found_++] = {static_cast<std::uint32_t>(number.end),
                           static_cast<std::uint32_t>(number.value)};
      at_ = number.end + number.value;
      inside_ = true;
    }
    if (at_ < text.size() && text[at_] != '\r') return fail("expected the end of a bulk string");
    if (text.size() < at_ + 2) return Status::more;
    if (text[at_ + 1] != '\n') return fail("expected the end of a bulk string");
    at_ += 2;
    inside_ = false;
  }
}

Status RequestParser::finish(std::string_view text) {
  for (std::size_t i = 0; i < found_; ++i)
    arguments_[i] = {text.data() + places_[i].offset, places_[i].size};
  count_ = found_;
  skip(at_);
  return Status::ready;
}

Status RequestParser::next_line(std::string_view text) {
  const auto end = text.find('\n', at_);
  if (end == std::string_view::npos ? text.size() > max_line : end > max_line)
    return fail("too big inline request");
  if (end == std::string_view::npos) {
    at_ = text.size();  // what was searched is not searched again
    return Status::more;
  }
  auto line = text.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) break;
    const auto first = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (count_ == max_arguments) {
      count_ = 0;
      return fail("too many words in an inline request: more than 64");
    }
    arguments_[count_++] = line.substr(first, at - first);
  }
  skip(end + 1);
  return Status::ready;
}

void RequestParser::skip(std::size_t size) {
  buffer_.consume(size);
  expected_ = found_ = at_ = 0;
  inside_ = false;
}

Status RequestParser::fail(std::string_view what) {
  error_ = "Protocol error: " + std::string(what);
  return Status::error;
}

Status RequestParser::fail_without_dollar(char found) {
  char shown[8] = {found};
  if (found < ' ' || found > '~')
    std::snprintf(shown, sizeof shown, "\\x%02x", static_cast<unsigned char>(found));
  return fail("expected '$', got '" + std::string(shown) + "'");
}

void write_request(std::string& out, std::span<const std::string_view> arguments) {
  ReplyWriter writer(out);  // a request is an array of bulk strings, as in a reply
  writer.array(arguments.size());
  for (const auto argument : arguments) writer.bulk(argument);
}

}  // namespace turno::wire

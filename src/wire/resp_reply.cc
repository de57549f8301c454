// Replies: how a server writes them, and the client's parser.
#include <algorithm>
#include <charconv>
#include <utility>

#include "wire/resp.h"

namespace turno::wire {

void ReplyWriter::header(char type, std::int64_t value) {
  char bytes[24];
  bytes[0] = type;
  auto* end = std::to_chars(bytes + 1, bytes + sizeof bytes - 2, value).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.append(bytes, static_cast<std::size_t>(end - bytes));
}

// A line's end inside would let whoever chose the text write replies of their own.
void ReplyWriter::line(std::string_view text) {
  const auto first = static_cast<std::ptrdiff_t>(out_.size());
  out_.append(text);
  std::replace_if(
      out_.begin() + first, out_.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  out_.append("\r\n");
}

void ReplyWriter::simple(std::string_view text) {
  out_.push_back('+');
  line(text);
}

void ReplyWriter::error(std::string_view code, std::string_view text) {
  out_.push_back('-');
  out_.append(code);
  out_.push_back(' ');
  line(text);
}

void ReplyWriter::integer(std::int64_t value) { header(':', value); }

void ReplyWriter::bulk(std::string_view text) {
  header('$', static_cast<std::int64_t>(text.size()));
  out_.append(text);
  out_.append("\r\n");
}

void ReplyWriter::null() { out_.append(protocol_ == 3 ? "_\r\n" : "$-1\r\n"); }

void ReplyWriter::boolean(bool value) {
  if (protocol_ == 3) {
    out_.append(value ? "#t\r\n" : "#f\r\n");
  } else {
    integer(value ? 1 : 0);
  }
}

void ReplyWriter::fence(std::uint64_t value) {
  if (fences_as_text_) return bulk(std::to_string(value));
  integer(static_cast<std::int64_t>(value));
}

void ReplyWriter::array(std::size_t elements) { header('*', static_cast<std::int64_t>(elements)); }

void ReplyWriter::map(std::size_t pairs) {
  if (protocol_ == 3) {
    header('%', static_cast<std::int64_t>(pairs));
  } else {
    array(2 * pairs);
  }
}

void ReplyWriter::push(std::size_t elements) {
  header(protocol_ == 3 ? '>' : '*', static_cast<std::int64_t>(elements));
}

namespace {

bool parse(std::string_view text, std::int64_t& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size();
}

bool is_double(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  double value = 0;  // reads inf and nan too; one that is out of range is still a number
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem != std::errc::invalid_argument && end == text.data() + text.size();
}

bool is_big_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Reply::Kind kind_of(char type) {
  switch (type) {
    case '+':
      return Reply::Kind::simple;
    case '-':
    case '!':
      return Reply::Kind::error;
    case '$':
      return Reply::Kind::bulk;
    case '=':
      return Reply::Kind::verbatim;
    case ',':
      return Reply::Kind::number;
    case '(':
      return Reply::Kind::big_number;
    case '~':
      return Reply::Kind::set;
    case '%':
      return Reply::Kind::map;
    case '>':
      return Reply::Kind::push;
    default:
      return Reply::Kind::array;
  }
}

}  // namespace

Status ReplyParser::next() {
  for (;;) {
    if (!error_.empty()) return Status::error;
    const auto step = in_text_ ? read_text() : read_line();
    if (step == Step::more) return Status::more;
    if (step == Step::error) return Status::error;
    if (step == Step::whole && add(std::move(value_))) return Status::ready;
  }
}

ReplyParser::Step ReplyParser::read_line() {
  const auto text = buffer_.readable();
  const auto end = text.find('\n', scanned_);
  if (end == std::string_view::npos ? text.size() > max_line : end > max_line)
    return fail("a line of more than 65536 bytes");
  if (end == std::string_view::npos) {
    scanned_ = text.size();
    return Step::more;
  }
  if (end < 2 || text[end - 1] != '\r') return fail("a line that does not end as it should");
  const auto line = text.substr(1, end - 2);
  scanned_ = 0;
  buffer_.consume(end + 1);  // the bytes stay until the next prepare()
  value_ = {};
  return read_value(text.front(), line, value_);
}

ReplyParser::Step ReplyParser::read_value(char type, std::string_view line, Reply& value) {
  switch (type) {
    case '+':
    case '-':
      break;
    case ':':
      value.kind = Reply::Kind::integer;
      return parse(line, value.integer) ? Step::whole : fail("an integer that is none");
    case '_':
      return line.empty() ? Step::whole : fail("a null with a text");
    case '#':
      value.kind = Reply::Kind::boolean;
      value.integer = line == "t" ? 1 : 0;
      return line == "t" || line == "f" ? Step::whole : fail("a boolean that is none");
    case ',':
      if (!is_double(line)) return fail("a double that is none");
      break;
    case '(':
      if (!is_big_number(line)) return fail("a big number that is none");
      break;
    default:
      return open(type, line);
  }
  value.kind = kind_of(type);
  value.text = line;
  return Step::whole;
}

// What begins with a length: a text or a list of elements.
ReplyParser::Step ReplyParser::open(char type, std::string_view line) {
  const bool is_text = type == '$' || type == '=' || type == '!';
  if (!is_text && std::string_view("*~%>|").find(type) == std::string_view::npos)
    return fail("a reply of unknown type");
  std::int64_t length = 0;
  if (!parse(line, length) || length < -1) return fail("a length that is none");
  if (length == -1)  // how version 2 writes null
    return type == '$' || type == '*' ? Step::whole : fail("a length that is none");
  const auto size = static_cast<std::uint64_t>(length);
  if (is_text) {
    if (size > max_bulk) return fail("a text of more than 16 MiB");
    in_text_ = true;
    text_kind_ = kind_of(type);
    text_size_ = static_cast<std::size_t>(size);
    return Step::opened;
  }
  if (size > max_elements) return fail("more than 1000000 elements");
  const auto elements = static_cast<std::size_t>(type == '%' || type == '|' ? 2 * size : size);
  elements_ += elements;
  if (elements_ > max_elements) return fail("more than 1000000 elements");
  if (open_.size() == max_depth) return fail("more than 8 lists inside each other");
  if (type == '>' && !open_.empty()) return fail("a push inside a reply");
  if (elements == 0 && type != '|') {
    value_.kind = kind_of(type);
    return Step::whole;
  }
  if (elements == 0) return Step::opened;
  open_.push_back({.reply = {.kind = kind_of(type)}, .left = elements, .forget = type == '|'});
  return Step::opened;
}

ReplyParser::Step ReplyParser::read_text() {
  const auto bytes = buffer_.readable();
  if (bytes.size() < text_size_ + 2) return Step::more;
  if (bytes.substr(text_size_, 2) != "\r\n") return fail("a text longer than it says");
  auto text = bytes.substr(0, text_size_);
  if (text_kind_ == Reply::Kind::verbatim) {
    if (text.size() < 4 || text[3] != ':') return fail("a verbatim text without a format");
    text.remove_prefix(4);
  }
  value_ = {.kind = text_kind_, .text = std::string(text)};
  in_text_ = false;
  buffer_.consume(text_size_ + 2);
  return Step::whole;
}

// Puts a value where it belongs, and every list that it completes. True: the reply is complete.
bool ReplyParser::add(Reply&& value) {
  while (!open_.empty()) {
    auto& list = open_.back();
    list.reply.elements.push_back(std::move(value));
    if (--list.left > 0) return false;
    const bool forget = list.forget;
    value = std::move(list.reply);
    open_.pop_back();
    if (forget) return false;
  }
  elements_ = 0;
  reply_ = std::move(value);
  return true;
}

ReplyParser::Step ReplyParser::fail(std::string_view what) {
  error_ = "Protocol error: " + std::string(what);
  open_.clear();
  return Step::error;
}

}  // namespace turno::wire

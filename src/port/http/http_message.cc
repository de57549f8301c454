#include "port/http/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace turno::port {

namespace {

tl::unexpected<HttpError> refused(int status, std::string reason) {
  return tl::unexpected(HttpError{status, std::move(reason)});
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

// What methods and names of headers are made of.
bool is_token(std::string_view text) {
  constexpr std::string_view signs = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || signs.find(c) != std::string_view::npos;
  });
}

bool same(std::string_view text, std::string_view small_letters) {
  return text.size() == small_letters.size() &&
         std::equal(text.begin(), text.end(), small_letters.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Whether a list such as "keep-alive, Upgrade" has this word.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (same(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

using Done = tl::expected<void, HttpError>;

// Reads a head line by line.
class HeadReader {
 public:
  Done request_line(std::string_view line) {
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == std::string_view::npos || first == last)
      return refused(400,
                     "this is not HTTP/1.1: a request begins with a line as in GET / HTTP/1.1");
    const auto method = line.substr(0, first);
    const auto target = line.substr(first + 1, last - first - 1);
    const auto version = line.substr(last + 1);
    if (!is_token(method)) return refused(400, "the method is not a word");
    if (!version.starts_with("HTTP/"))
      return refused(400, "the request line names no HTTP version");
    if (version != "HTTP/1.0" && version != "HTTP/1.1")
      return refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    request_.method = method;
    request_.old = version == "HTTP/1.0";
    request_.keep_alive = !request_.old;
    return set_path(target);
  }

  Done header(std::string_view line) {
    if (++headers_ > most_headers)
      return refused(431, fmt::format("more than {} header lines", most_headers));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return refused(400, "a header line is not as in Name: value");
    const auto name = line.substr(0, colon);
    const auto value = trimmed(line.substr(colon + 1));
    if (same(name, "connection")) {
      closes_ = closes_ || lists(value, "close");
      if (request_.old && lists(value, "keep-alive")) request_.keep_alive = true;
    } else if (same(name, "content-length")) {
      if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit))
        return refused(400, "Content-Length is not a number");
      if (value.find_first_not_of('0') != std::string_view::npos) request_.body = true;
    } else if (same(name, "transfer-encoding")) {
      request_.body = true;
    } else if (same(name, "host")) {
      ++hosts_;
    }
    return {};
  }

  tl::expected<HttpRequest, HttpError> end() {
    if (hosts_ > 1 || (hosts_ == 0 && !request_.old))
      return refused(400, "a request has one Host line");
    if (closes_) request_.keep_alive = false;
    return std::move(request_);
  }

 private:
  Done set_path(std::string_view target) {
    // Whoever talks to a proxy sends the whole address, and a proxy may pass it on.
    constexpr std::string_view scheme = "http://";
    if (target.starts_with(scheme)) {
      target.remove_prefix(scheme.size());
      target.remove_prefix(std::min(target.find('/'), target.size()));
      if (target.empty()) target = "/";
    }
    if (!target.starts_with('/') || target.find_first_of(" \t#") != std::string_view::npos)
      return refused(400, "the request line names no path");
    auto path = percent_decoded(target.substr(0, target.find('?')));
    if (!path) return refused(400, "a % in the path is not followed by two hexadecimal digits");
    request_.path = std::move(*path);
    return {};
  }

  HttpRequest request_;
  std::size_t headers_ = 0, hosts_ = 0;
  bool closes_ = false;
};

std::string_view status_text(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 9> texts = {{
      {200, "OK"},
      {400, "Bad Request"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Content Too Large"},
      {431, "Request Header Fields Too Large"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  }};
  for (const auto& [number, text] : texts)
    if (number == status) return text;
  return "Unknown";
}

}  // namespace

tl::expected<std::optional<ParsedRequest>, HttpError> parse_request(std::string_view bytes) {
  const auto head = bytes.substr(0, longest_head);
  HeadReader reader;
  bool begun = false;
  for (std::size_t at = 0;;) {
    const auto feed = head.find('\n', at);
    auto line = head.substr(at, feed == std::string_view::npos ? feed : feed - at);
    // The end of an unfinished line may be half of a line's end.
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::any_of(line.begin(), line.end(), is_control))
      return refused(400, "this is not HTTP: it has control characters");
    if (feed == std::string_view::npos) break;
    at = feed + 1;
    if (line.empty() && !begun) continue;  // some clients end their last request with one too many
    if (line.empty()) {
      auto request = reader.end();
      if (!request) return tl::unexpected(std::move(request.error()));
      return ParsedRequest{std::move(*request), at};
    }
    const auto read = begun ? reader.header(line) : reader.request_line(line);
    if (!read) return tl::unexpected(read.error());
    begun = true;
  }
  if (head.size() == longest_head)
    return refused(431, fmt::format("the head of a request has at most {} bytes", longest_head));
  return std::nullopt;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (is_digit(c)) return c - '0';
    const char small = static_cast<char>(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
  };
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return {};
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

void write_response(std::string& out, const HttpRequest& request, const HttpResponse& response) {
  fmt::format_to(std::back_inserter(out),
                 "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
                 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
                 response.status, status_text(response.status), response.type,
                 response.body.size());
  out += response.headers;
  if (response.status == 405) out += "Allow: GET, HEAD\r\n";
  if (!request.keep_alive) {
    out += "Connection: close\r\n";
  } else if (request.old) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  if (request.method != "HEAD") out += response.body;
}

HttpResponse failure_response(const HttpError& error) {
  return {
      .status = error.status,
      .body = fmt::format("{} {}: {}\n", error.status, status_text(error.status), error.reason)};
}

}  // namespace turno::port

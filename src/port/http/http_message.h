// Requests and responses of HTTP/1.1, as far as a node needs them: no bodies from clients.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace turno::port {

inline constexpr std::size_t longest_head = std::size_t{8} << 10;  // bytes of a request
inline constexpr std::size_t most_headers = 100;

struct HttpRequest {
  std::string method = "GET";
  std::string path;         // decoded, without the query
  bool old = false;         // HTTP/1.0
  bool keep_alive = false;  // the connection stays open after the response
  bool body = false;        // one follows
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string_view type = "text/plain; charset=utf-8";
  std::string_view headers = {};  // further lines, each with its end
};

// Why a request is refused.
struct HttpError {
  int status = 400;
  std::string reason;
};

struct ParsedRequest {
  HttpRequest request;
  std::size_t size = 0;  // how many bytes it took
};

// The request at the beginning of `bytes`; nothing if it is not complete yet. What can never become
// a request is refused as soon as that is clear.
tl::expected<std::optional<ParsedRequest>, HttpError> parse_request(std::string_view bytes);

// Nothing if a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

void write_response(std::string& out, const HttpRequest& request, const HttpResponse& response);

// A response that says in words what went wrong.
HttpResponse failure_response(const HttpError& error);

}  // namespace turno::port

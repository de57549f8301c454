#include "port/http/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace turno::port {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// "GET /path keep-alive 1.0 body", "(more)", or "400 why".
std::string parsed(std::string_view bytes) {
  const auto result = parse_request(bytes);
  if (!result) return std::to_string(result.error().status) + " " + result.error().reason;
  if (!*result) return "(more)";
  const auto& request = (*result)->request;
  return request.method + " " + request.path + (request.keep_alive ? " keep-alive" : "") +
         (request.old ? " 1.0" : "") + (request.body ? " body" : "");
}

std::string with_headers(const std::string& lines) {
  return parsed("GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n");
}

TEST(HttpRequest, IsReadFromItsLines) {
  EXPECT_EQ(parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "GET / keep-alive");
  EXPECT_EQ(parsed("HEAD /metrics HTTP/1.1\r\nHost:a\r\nAccept: */*\r\n\r\n"),
            "HEAD /metrics keep-alive");
  EXPECT_EQ(parsed("GET /a HTTP/1.0\r\n\r\n"), "GET /a 1.0");
  EXPECT_EQ(parsed("GET / HTTP/1.1\nHost: a\n\n"), "GET / keep-alive") << "typed by hand";
  EXPECT_EQ(parsed("\r\n\r\nGET / HTTP/1.0\r\n\r\n"), "GET / 1.0");
  EXPECT_EQ(parsed("DELETE /locks/a HTTP/1.1\r\nHost: a\r\n\r\n"), "DELETE /locks/a keep-alive");
}

TEST(HttpRequest, HasAPathThatIsDecodedAndAQueryThatIsIgnored) {
  EXPECT_EQ(parsed("GET /locks/a%2Fb%20%c3%a9?x=%zz HTTP/1.0\r\n\r\n"),
            "GET /locks/a/b \u00e9 1.0");
  EXPECT_EQ(parsed("GET http://example.org:80/status HTTP/1.0\r\n\r\n"), "GET /status 1.0");
  EXPECT_EQ(parsed("GET http://example.org HTTP/1.0\r\n\r\n"), "GET / 1.0");
  EXPECT_THAT(parsed("GET /%4 HTTP/1.0\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(parsed("GET /%4g HTTP/1.0\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(parsed("GET * HTTP/1.0\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(parsed("GET  HTTP/1.0\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(parsed("GET /a b HTTP/1.0\r\n\r\n"), HasSubstr("400"));
}

TEST(HttpRequest, SaysWhetherTheConnectionStays) {
  EXPECT_EQ(with_headers("Connection: close\r\n"), "GET /");
  EXPECT_EQ(with_headers("CONNECTION:\tUpgrade , CLOSE\r\n"), "GET /");
  EXPECT_EQ(with_headers("Connection: closed\r\n"), "GET / keep-alive");
  EXPECT_EQ(parsed("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), "GET / keep-alive 1.0");
  EXPECT_EQ(parsed("GET / HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n"), "GET / 1.0");
}

TEST(HttpRequest, SaysWhetherABodyFollows) {
  EXPECT_EQ(with_headers("Content-Length: 0\r\n"), "GET / keep-alive");
  EXPECT_EQ(with_headers("Content-Length: 10\r\n"), "GET / keep-alive body");
  EXPECT_EQ(with_headers("Content-Length: 99999999999999999999999\r\n"), "GET / keep-alive body");
  EXPECT_EQ(with_headers("Transfer-Encoding: chunked\r\n"), "GET / keep-alive body");
  EXPECT_THAT(with_headers("Content-Length: -1\r\n"), HasSubstr("400"));
  EXPECT_THAT(with_headers("Content-Length:\r\n"), HasSubstr("400"));
}

TEST(HttpRequest, IsRefusedIfItIsNone) {
  for (const std::string bad :
       {"hello\r\n", "GET /\r\n", "G@T / HTTP/1.1\r\n", " / HTTP/1.1\r\n", "GET / FTP/1.1\r\n",
        "GET / HTTP/1.1\r\nHost\r\n", "GET / HTTP/1.1\r\nHost : a\r\n", "GET / HTTP/1.1\r\n: a\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /\x01 HTTP/1.1\r\n",
        "GET / HTTP/1.1\rHost: a\r\n", "\x16\x03\x01\x02"})
    EXPECT_THAT(parsed(bad), HasSubstr("400")) << bad;
  EXPECT_THAT(parsed("PRI * HTTP/2.0\r\n\r\n"), HasSubstr("505"));
  EXPECT_THAT(parsed("GET / HTTP/3\r\n"), HasSubstr("505"));
}

TEST(HttpRequest, HasALimitedHead) {
  const std::string line = "GET / HTTP/1.0\r\n";
  std::string headers;
  for (std::size_t i = 0; i < most_headers; ++i) headers += "A: b\r\n";
  EXPECT_EQ(parsed(line + headers + "\r\n"), "GET / 1.0");
  EXPECT_THAT(parsed(line + headers + "A: b\r\n"), HasSubstr("431"));
  const auto padded = [&](std::size_t size) {
    return line + "A: " + std::string(size - line.size() - 7, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(parsed(padded(longest_head)), "GET / 1.0");
  EXPECT_THAT(parsed(padded(longest_head + 1)), HasSubstr("431"));
  EXPECT_EQ(parsed(std::string(longest_head - 1, 'x')), "(more)");
  EXPECT_THAT(parsed(std::string(longest_head, 'x')), HasSubstr("431"));
  EXPECT_THAT(parsed(std::string(100'000, '\n')), HasSubstr("431"));
}

TEST(HttpRequest, WaitsForItsEnd) {
  const std::string whole = "GET /a HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(parsed(whole.substr(0, size)), "(more)") << size;
  // What follows is not looked at.
  const auto two = parse_request(whole + "\x01\x02");
  ASSERT_TRUE(two && *two);
  EXPECT_EQ((*two)->size, whole.size());
}

TEST(HttpRequest, MayBeAnyBytes) {
  EXPECT_TRUE(rc::check("a refusal stays one, whatever follows", [](const std::string& tail) {
    const auto start = *rc::gen::element<std::string>("", "GET ", "GET /%", "GET / HTTP/1.1\r\n",
                                                      "GET / HTTP/1.1\r\nHost: a\r\n");
    const auto text = start + tail;
    bool refused = false;
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const auto result = parse_request(std::string_view(text).substr(0, size));
      RC_ASSERT(!refused || !result);
      refused = !result;
      if (result && *result) break;
    }
  }));
}

TEST(HttpResponse, TellsItsSizeAndWhetherTheConnectionStays) {
  const auto written = [](const HttpRequest& request, const HttpResponse& response) {
    std::string out;
    write_response(out, request, response);
    return out;
  };
  HttpRequest request;
  request.keep_alive = true;
  EXPECT_EQ(written(request, {.body = "ok\n"}),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\nok\n");
  request.old = true;
  EXPECT_THAT(written(request, {}), HasSubstr("\r\nConnection: keep-alive\r\n"));
  request.keep_alive = false;
  EXPECT_THAT(written(request, {}), HasSubstr("\r\nConnection: close\r\n"));
  request.method = "HEAD";
  EXPECT_THAT(written(request, {.body = "the body"}), HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(written(request, {.body = "the body"}), Not(HasSubstr("the body")));
  EXPECT_THAT(written(request, failure_response({405, "no"})), HasSubstr("Allow: GET, HEAD\r\n"));
}

}  // namespace
}  // namespace turno::port

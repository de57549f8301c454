#include "port/http/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "port/http/http_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class HttpTest : public ::testing::Test {
 protected:
  HttpTest() : node_(directory_.path(), "a") { node_.run(); }

  [[nodiscard]] Browser open() { return Browser(node_.http()); }
  // The status of what comes back, and then the node hangs up.
  int last_words(std::string_view bytes) {
    auto browser = open();
    browser.say(bytes);
    const auto page = browser.read();
    EXPECT_THAT(page.head, HasSubstr("\r\nConnection: close\r\n"));
    EXPECT_TRUE(browser.at_end());
    return page.status;
  }

  const registry::TemporaryDirectory directory_;
  TestNode node_;
};

TEST_F(HttpTest, HasAPageForEachThing) {
  auto browser = open();  // and one connection does for all
  for (const auto* path : {"/", "/metrics", "/healthz", "/readyz", "/status", "/locks", "/locks/a",
                           "/status?pretty=1", "/%73tatus"}) {
    const auto page = browser.get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_NE(page.body, "");
    EXPECT_THAT(page.head, HasSubstr("Content-Type: "));
  }
  EXPECT_EQ(browser.get("/healthz").body, "ok\n");
  EXPECT_THAT(browser.get("/").body, HasSubstr("/locks/NAME"));
  EXPECT_EQ(browser.get("/locks/" + std::string(512, 'x')).status, 200);
  EXPECT_EQ(browser.get("/locks/" + std::string(513, 'x')).status, 400);
  for (const auto* path : {"/nowhere", "/metrics/", "/lockss", "//", "/../etc/passwd"})
    EXPECT_EQ(browser.get(path).status, 404) << path;
}

TEST_F(HttpTest, AnswersHeadWithoutTheBody) {
  auto browser = open();
  for (const std::string path : {"/healthz", "/locks"}) {
    browser.say("HEAD " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto head = browser.read(false).head;
    EXPECT_EQ(head, browser.get(path).head);
  }
}

TEST_F(HttpTest, AllowsOnlyToRead) {
  auto browser = open();
  for (const std::string method : {"POST", "DELETE", "OPTIONS", "get"}) {
    browser.say(method + " /locks/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    const auto page = browser.read();
    EXPECT_EQ(page.status, 405) << method;
    EXPECT_THAT(page.head, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
  EXPECT_EQ(browser.get("/healthz").status, 200);
}

TEST_F(HttpTest, TakesNoBody) {
  EXPECT_EQ(last_words("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"), 405);
  EXPECT_EQ(last_words("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"), 413);
  EXPECT_EQ(last_words("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            413);
  // The response arrives although much comes that nobody looks at.
  EXPECT_EQ(last_words("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n" +
                       std::string(1'000'000, 'x')),
            413);
}

TEST_F(HttpTest, HangsUpWhenAsked) {
  EXPECT_EQ(last_words("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 200);
  EXPECT_EQ(last_words("GET /locks HTTP/1.0\r\n\r\n"), 200);
  auto browser = open();
  for (int i = 0; i < 2; ++i) {
    browser.say("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(browser.read().head, HasSubstr("\r\nConnection: keep-alive\r\n"));
  }
}

TEST_F(HttpTest, AnswersInOrderWhatWasAskedTogether) {
  auto browser = open();
  std::string requests;
  for (const std::string path : {"/healthz", "/locks", "/nowhere", "/status", "/readyz"})
    requests += "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
  browser.say(requests);
  EXPECT_EQ(browser.read().body, "ok\n");
  EXPECT_THAT(browser.read().body, HasSubstr("\"locks\":[]"));
  EXPECT_EQ(browser.read().status, 404);
  EXPECT_THAT(browser.read().body, HasSubstr("\"node\":"));
  EXPECT_EQ(browser.read().body, "ready\n");
}

TEST_F(HttpTest, ReadsARequestInPieces) {
  auto browser = open();
  for (const char byte : std::string_view("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"))
    browser.say({&byte, 1});
  EXPECT_EQ(browser.read().body, "ok\n");
}

TEST_F(HttpTest, WaitsForAReaderThatIsSlow) {
  constexpr int many = 2000;  // more than fits between the two
  auto browser = open();
  std::thread asking([&] {
    for (int i = 0; i < many; ++i) browser.say("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  });
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(get(node_.http(), "/healthz").status, 200) << "others do not wait";
  int answered = 0;
  while (answered < many && browser.read().status == 200) ++answered;
  EXPECT_EQ(answered, many);
  asking.join();
}

TEST_F(HttpTest, RefusesGarbageWithOneWarning) {
  log::set_level(log::Level::warning);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(last_words("hello there\r\nGET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(last_words(std::string_view("\x16\x03\x01\x00\xa5\x01\x00", 7)), 400);
  EXPECT_EQ(last_words(std::string(20'000, 'x')), 431);
  EXPECT_EQ(last_words("*3\r\n$4\r\nLOCK\r\n$1\r\na\r\n"), 400) << "a client at the wrong port";
  EXPECT_EQ(last_words("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  log::set_level(log::Level::off);
  const auto lines = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 5) << lines;
  EXPECT_THAT(lines, HasSubstr("warning http 127.0.0.1:"));
  EXPECT_EQ(get(node_.http(), "/healthz").status, 200);
}

TEST_F(HttpTest, ForgetsWhoHangsUpInTheMiddle) {
  for (const auto* bytes : {"", "GET / HT", "GET /locks HTTP/1.1\r\nHost: a\r\n\r\n",
                            "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\nGET"}) {
    auto browser = open();
    browser.say(bytes);
    browser.hang_up();
  }
  EXPECT_EQ(get(node_.http(), "/healthz").status, 200);
}

TEST_F(HttpTest, MakesRoomForWhoComes) {
  std::vector<Browser> browsers;
  for (std::size_t i = 0; i < Http::most_connections; ++i) browsers.push_back(open());
  EXPECT_EQ(browsers.front().get("/healthz").status, 200);
  // However many there are that say nothing, a probe is answered.
  for (int i = 0; i < 50; ++i) browsers.push_back(open());
  EXPECT_EQ(get(node_.http(), "/healthz").status, 200);
  EXPECT_TRUE(browsers[1].at_end()) << "the quietest is closed";
  EXPECT_EQ(browsers.front().get("/healthz").status, 200);
}

TEST_F(HttpTest, EndsWithTheNode) {
  auto browser = open();
  EXPECT_EQ(browser.get("/healthz").status, 200);
  browser.say("GET /locks HT");
  node_.stop();
  EXPECT_TRUE(browser.at_end());
}

// A command's exit status and what it printed.
std::pair<int, std::string> run(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char bytes[4096];
  while (const auto count = ::fread(bytes, 1, sizeof bytes, pipe)) text.append(bytes, count);
  return {::pclose(pipe), text};
}

TEST_F(HttpTest, SpeaksWithCurl) {
  if (run("curl --version").first != 0) GTEST_SKIP() << "curl is not installed";
  const auto at = " http://" + node_.http();
  const std::string curl = "curl --silent --show-error --fail --max-time 10 --noproxy '*' ";
  EXPECT_EQ(run(curl + at + "/healthz").second, "ok\n");
  EXPECT_EQ(run(curl + "--http1.0" + at + "/healthz").second, "ok\n");
  EXPECT_THAT(run(curl + "--head" + at + "/metrics").second, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(run(curl + at + "/locks/a%20b").second, HasSubstr("\"name\":\"a b\""));
  // Two on one connection.
  const auto two = run(curl + "--verbose" + at + "/healthz" + at + "/readyz 2>&1").second;
  EXPECT_THAT(two, HasSubstr("Re-using existing connection"));
  EXPECT_THAT(two, HasSubstr("ready\n"));
  EXPECT_THAT(run("curl -s -i --noproxy '*' -d body" + at + "/locks").second,
              HasSubstr("405 Method Not Allowed"));
}

// A node whose port has little patience.
class ImpatientTest : public ::testing::Test {
 protected:
  ImpatientTest() {
    log::set_level(log::Level::off);
    Settings settings;
    settings.directory = directory_.path();
    settings.name = "a";
    settings.http_address = "127.0.0.1:0";
    auto started = Daemon::start(
        settings, [](const Owner&, table::Thing, const std::string&, Fence, std::string_view) {});
    if (!started) throw std::runtime_error(started.error());
    daemon_ = std::move(*started);
    clients_ = std::make_unique<Clients>(*daemon_, std::vector<net::Fd>{});
    pages_ = std::make_unique<Pages>(*daemon_, *clients_);
    http_ = std::make_unique<Http>(
        daemon_->loop(), daemon_->take_http_socket(),
        [this](const auto& request, const auto& done) { pages_->answer(request, done); },
        Http::Times{.head = 100ms, .idle = 1000ms, .linger = 100ms});
    thread_ = std::thread([this] { daemon_->run(); });
  }
  ~ImpatientTest() override {
    daemon_->stop();
    thread_.join();
    http_.reset();
    clients_.reset();
    daemon_->leave();
  }
  [[nodiscard]] Browser open() { return Browser(daemon_->self().http_address); }

  const registry::TemporaryDirectory directory_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Clients> clients_;
  std::unique_ptr<Pages> pages_;
  std::unique_ptr<Http> http_;
  std::thread thread_;
};

using Clock = std::chrono::steady_clock;

TEST_F(ImpatientTest, HangsUpOnWhoSaysNothing) {
  const auto begin = Clock::now();
  EXPECT_TRUE(open().at_end());
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST_F(ImpatientTest, TellsWhoIsSlowToAsk) {
  auto browser = open();
  browser.say("GET / HTTP/1.1\r\n");
  // A little at a time does not help.
  std::thread trickle([&] {
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(30ms);
      browser.say("A: b\r\n");
    }
  });
  EXPECT_EQ(browser.read().status, 408);
  trickle.join();
  EXPECT_TRUE(browser.at_end());
}

TEST_F(ImpatientTest, KeepsAConnectionBetweenRequestsForLonger) {
  auto browser = open();
  EXPECT_EQ(browser.get("/healthz").status, 200);
  std::this_thread::sleep_for(200ms);
  const auto begin = Clock::now();
  EXPECT_EQ(browser.get("/healthz").status, 200);
  EXPECT_TRUE(browser.at_end());
  EXPECT_GE(Clock::now() - begin, 1s);
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST_F(ImpatientTest, HangsUpOnWhoDoesNot) {
  auto browser = open();
  browser.say("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(browser.read().status, 200);
  EXPECT_TRUE(browser.at_end());
  // The node has nothing more to say; soon it does not listen any more either.
  EXPECT_TRUE(eventually([&] { return !browser.say("x"); }));
}

TEST_F(ImpatientTest, HangsUpOnWhoNeverReads) {
  auto browser = open();
  const int little = 4096;
  ::setsockopt(browser.socket().get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  std::string requests;
  for (int i = 0; i < 10'000; ++i) requests += "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
  browser.say(requests);
  EXPECT_TRUE(eventually([&] { return !browser.say("x"); }));
}

}  // namespace
}  // namespace turno::port

// What is served to a browser, and what is not.
#include "cli/ui/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "cli/frame/command_testing.h"
#include "cli/ui/page.h"

namespace turno::cli {
namespace {

using ::testing::HasSubstr;
using testing::shell;

class PageTest : public ::testing::Test {
 protected:
  PageTest() {
    std::string name = std::filesystem::temp_directory_path() / "turno-ui-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~PageTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string file(const std::string& text) const {
    std::ofstream(directory_ / "run.jsonl") << text;
    return directory_ / "run.jsonl";
  }
  static port::HttpResponse get(const PageSite& site, const std::string& path) {
    return site.answer({.path = path});
  }

  std::filesystem::path directory_;
};

TEST_F(PageTest, IsForWhoKnowsTheToken) {
  const PageSite site("secret", nullptr);
  EXPECT_EQ(get(site, "/secret/").status, 200);
  EXPECT_EQ(get(site, "/secret/").body, page().html);
  EXPECT_EQ(get(site, "/secret/trace").body, "{}");
  for (const auto* path :
       {"/", "/secret", "/Secret/", "/secre/", "/secrets/", "/trace", "//trace", "secret/",
        "/secret/../trace", "/secret//", "/secret/trace/0", "/secret/trace/", "/secret/etc/passwd"})
    EXPECT_EQ(get(site, path).status, 404) << path;
  EXPECT_EQ(site.answer({.method = "POST", .path = "/secret/"}).status, 405);
  EXPECT_EQ(site.answer({.path = "/secret/", .body = true}).status, 413);
}

TEST_F(PageTest, MayDoNothingElse) {
  const PageSite site("t", nullptr);
  const auto headers = std::string(get(site, "/t/").headers);
  EXPECT_THAT(headers, HasSubstr("Content-Security-Policy: "));
  EXPECT_THAT(headers, HasSubstr("Referrer-Policy: no-referrer\r\n"));
  EXPECT_THAT(headers, HasSubstr("X-Frame-Options: DENY\r\n"));
  if (page().html.empty()) return;  // built without the page
  EXPECT_THAT(page().policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page().policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(page().policy, ::testing::Not(HasSubstr("unsafe")));
}

TEST_F(PageTest, ServesAFileInPieces) {
  std::string text;
  while (text.size() < 2 * ServedFile::piece_size + 3) text += "line of a trace\n";
  auto served = ServedFile::open(file(text));
  ASSERT_TRUE(served);
  EXPECT_EQ(served->size(), text.size());
  EXPECT_EQ(served->pieces(), 3U);
  const PageSite site("t", &*served);
  EXPECT_THAT(get(site, "/t/trace").body, HasSubstr(R"({"name":"run.jsonl","bytes":)"));
  const auto all =
      get(site, "/t/trace/0").body + get(site, "/t/trace/1").body + get(site, "/t/trace/2").body;
  EXPECT_TRUE(all == text);
  for (const auto* piece : {"3", "-1", "", "0x1", "0/", "99999999999999999999999"})
    EXPECT_EQ(get(site, std::string("/t/trace/") + piece).status, 404) << piece;
}

TEST_F(PageTest, ServesTheFileThatWasOpened) {
  const auto path = file("one\n");
  auto served = ServedFile::open(path);
  ASSERT_TRUE(served);
  std::filesystem::remove(path);
  static_cast<void>(file("another, which is longer\n"));
  EXPECT_EQ(served->piece(0), "one\n");
}

TEST_F(PageTest, ServesWhatIsLeftOfAFileThatWasCutOff) {
  const auto path = file("a trace\n");
  auto served = ServedFile::open(path);
  ASSERT_TRUE(served);
  std::filesystem::resize_file(path, 3);
  EXPECT_EQ(served->piece(0), "a t");
}

TEST_F(PageTest, RefusesWhatIsNoFile) {
  EXPECT_THAT(ServedFile::open(directory_ / "none").error(), HasSubstr("No such file"));
  EXPECT_THAT(ServedFile::open(directory_).error(), HasSubstr("no regular file"));
  const auto pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(ServedFile::open(pipe).error(), HasSubstr("no regular file"));
}

// Runs `turno WORDS`, asks with curl for the page at the address that it prints, and ends it.
testing::Outcome visited(const std::filesystem::path& directory, const std::string& words) {
  const auto pipe = (directory / "address").string();
  return shell("(mkfifo '" + pipe + "'; '" TURNO_BINARY "' " + words + " >'" + pipe +
               "' & while read -r line; do case $line in http:*) "
               "curl -s -i --noproxy '*' \"$line\" | head -1; echo \"$line\"; kill $!;; esac; "
               "done <'" +
               pipe + "'; wait $!; echo status $?)");
}

TEST_F(PageTest, IsServedByTheCommandUntilASignal) {
  const auto outcome = visited(directory_, "ui '" + file("{}\n") + "'");
  if (page().html.empty()) {
    EXPECT_THAT(outcome.output, HasSubstr("make web"));
    EXPECT_THAT(outcome.output, HasSubstr("status 125"));
    return;
  }
  EXPECT_THAT(outcome.output, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_TRUE(std::regex_search(outcome.output,
                                std::regex("http://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]{32}/\n")))
      << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("status 0"));
}

TEST_F(PageTest, OpensWhatACommandHasFound) {
  const auto temporary = directory_ / "temporary";
  std::filesystem::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const auto outcome = visited(directory_, "check lamport --channels unordered --nodes 2 --open");
  ::unsetenv("TMPDIR");
  EXPECT_THAT(outcome.output, HasSubstr(page().html.empty() ? "make web" : "HTTP/1.1 200 OK"));
  EXPECT_THAT(outcome.output, HasSubstr("status 1")) << "the exit status of the check";
  EXPECT_TRUE(std::filesystem::is_empty(temporary)) << "a file that nobody named goes";
}

TEST_F(PageTest, IsNotOpenedForNothing) {
  const auto outcome = testing::turno("check central --nodes 2 --open");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("No counterexample; nothing to open."));
  EXPECT_EQ(testing::turno("sim nxr --entries 10 --open --trace -").status, 64);
  EXPECT_EQ(testing::turno("sim nxr --entries 10 --open --json").status, 64);
  EXPECT_EQ(testing::turno("sim nxr --entries 10 --open --repeat 2").status, 64);
  EXPECT_EQ(testing::turno("ui '" + (directory_ / "none").string() + "'").status, 125);
  EXPECT_EQ(testing::turno("ui --port 65536").status, 64);
}

}  // namespace
}  // namespace turno::cli

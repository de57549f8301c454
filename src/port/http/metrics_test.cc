#include "port/http/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "port/http/exposition.h"
#include "port/http/http_testing.h"
#include "port/http/process.h"
#include "port/resp/caller_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using ::testing::HasSubstr;

// A reader of the text format that believes nothing.
struct Scrape {
  std::map<std::string, std::string> types;    // by family
  std::map<std::string, double> samples;       // by series, as written
  std::vector<std::string> order, complaints;  // of the series; what is wrong

  explicit Scrape(const std::string& text) {
    if (!text.ends_with('\n')) complaints.push_back("the last line does not end");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read(line);
    for (const auto& [name, type] : types)
      if (type == "histogram") check_histogram(name);
  }

 private:
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string hash, what, name, rest;
    if (line.starts_with("# ") && words >> hash >> what >> name >> rest) {
      if (what == "HELP") {
        helped_.insert(name);
      } else if (what == "TYPE" && (rest == "counter" || rest == "gauge" || rest == "histogram")) {
        if (!helped_.contains(name)) complaints.push_back("no HELP before " + line);
        if (!types.emplace(name, rest).second) complaints.push_back("twice: " + line);
        family_ = name;
      } else {
        complaints.push_back("not understood: " + line);
      }
    } else {
      read_sample(line);
    }
  }
  void read_sample(const std::string& line) {
    const auto word_end = [&](std::size_t from) {
      return line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", from);
    };
    auto at = word_end(0);
    if (!belongs(line.substr(0, at))) complaints.push_back("not of " + family_ + ": " + line);
    if (at != std::string::npos && line[at] == '{') {
      do {
        at = word_end(at + 1);
        if (at == std::string::npos || line.compare(at, 2, "=\"") != 0) break;
        for (at += 2; at < line.size() && line[at] != '"'; ++at)
          if (line[at] == '\\' && ++at < line.size() && !std::strchr("\\\"n", line[at]))
            complaints.push_back("escape: " + line);
      } while (++at < line.size() && line[at] == ',');
      if (at >= line.size() || line[at++] != '}') return complaints.push_back("labels: " + line);
    }
    if (at >= line.size() || line[at] != ' ') return complaints.push_back("no value: " + line);
    char* end = nullptr;
    const auto value = std::strtod(&line[at + 1], &end);
    if (end == &line[at + 1] || *end != '\0' || !(value >= 0))
      complaints.push_back("value: " + line);
    if (!samples.emplace(line.substr(0, at), value).second) complaints.push_back("twice: " + line);
    order.push_back(line.substr(0, at));
  }
  [[nodiscard]] bool belongs(const std::string& name) {
    const auto type = types[family_];
    if (type != "histogram")
      return name == family_ && (type != "counter") != name.ends_with("_total");
    return name == family_ + "_bucket" || name == family_ + "_sum" || name == family_ + "_count";
  }
  void check_histogram(const std::string& name) {
    const auto beginning = name + "_bucket{le=\"";
    double bound = -INFINITY, count = 0;
    for (const auto& series : order) {
      if (!series.starts_with(beginning)) continue;
      const auto next = std::stod(series.substr(beginning.size()));
      if (next <= bound || samples[series] < count) complaints.push_back("not growing: " + series);
      bound = next;
      count = samples[series];
    }
    if (bound != INFINITY || count != samples[name + "_count"])
      complaints.push_back(name + " does not end with +Inf and its count");
  }

  std::set<std::string> helped_;
  std::string family_;
};

std::vector<std::string> complaints(const std::string& text) { return Scrape(text).complaints; }

TEST(Exposition, WritesFamiliesAndEscapesLabels) {
  Exposition out;
  out.counter("frames_total", "Frames\\\nof \"peers\".")
      .sample({{"peer", "a\\b\"c\nd"}, {"kind", "x"}}, std::uint64_t{3});
  out.gauge("free", "How many.").sample(std::int64_t{7}).sample({{"half", "yes"}}, 0.5);
  const auto text = out.take();
  EXPECT_EQ(text,
            "# HELP frames_total Frames\\\\\\nof \"peers\".\n"
            "# TYPE frames_total counter\n"
            "frames_total{peer=\"a\\\\b\\\"c\\nd\",kind=\"x\"} 3\n"
            "# HELP free How many.\n"
            "# TYPE free gauge\n"
            "free 7\n"
            "free{half=\"yes\"} 0.5\n");
  EXPECT_EQ(complaints(text), std::vector<std::string>{});
}

TEST(Exposition, AddsUpTheBucketsOfAHistogram) {
  Exposition out;
  const std::array<std::uint64_t, 3> bounds = {10, 2'500, 120'000'000};
  const std::array<std::uint64_t, 4> counts = {5, 0, 2, 1};
  out.histogram("wait_seconds", "Waits.", bounds, counts, 1.25);
  const auto text = out.take();
  EXPECT_EQ(text,
            "# HELP wait_seconds Waits.\n"
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{le=\"1e-05\"} 5\n"
            "wait_seconds_bucket{le=\"0.0025\"} 5\n"
            "wait_seconds_bucket{le=\"120\"} 7\n"
            "wait_seconds_bucket{le=\"+Inf\"} 8\n"
            "wait_seconds_sum 1.25\n"
            "wait_seconds_count 8\n");
  EXPECT_EQ(complaints(text), std::vector<std::string>{});
}

TEST(Scrape, ComplainsAboutWhatIsWrong) {
  EXPECT_NE(complaints("a 1\n"), std::vector<std::string>{});
  const std::string gauge = "# HELP a b\n# TYPE a gauge\n";
  EXPECT_EQ(complaints(gauge + "a 1\n"), std::vector<std::string>{});
  for (const std::string bad : {"a 1", "a\n", "a x\n", "b 1\n", "a{l=\"\"\"} 1\n", "a 1\na 1\n"})
    EXPECT_NE(complaints(gauge + bad), std::vector<std::string>{}) << bad;
  const std::string histogram = "# HELP h b\n# TYPE h histogram\n";
  EXPECT_NE(complaints(histogram + "h_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n"),
            std::vector<std::string>{});
  EXPECT_NE(complaints(histogram + "h_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_count 2\n"),
            std::vector<std::string>{});
}

TEST(Metrics, TellWhatHappened) {
  const registry::TemporaryDirectory directory;
  TestNode node(directory.path(), "a.name");
  node.run();
  const Owner owner{1, "test"}, other{2, "other"};
  const auto scrape = [&] {
    const auto page = get(node.http(), "/metrics");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.head, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    Scrape result(page.body);
    EXPECT_EQ(result.complaints, std::vector<std::string>{}) << page.body;
    return result;
  };
  {
    const TestUser holder(node.locks(), owner, "x"), waiter(node.locks(), other, "x");
    auto during = scrape().samples;
    EXPECT_EQ(during["turno_holders"], 1);
    EXPECT_EQ(during["turno_waiters"], 1);
    for (const auto* none : {"turno_deadlocks_found_total", "turno_deadlocks_aborted_total",
                             "turno_requests_out_of_turn_total"}) {
      EXPECT_TRUE(during.contains(none)) << none;
      EXPECT_EQ(during[none], 0) << none;
    }
    EXPECT_EQ(during["turno_locks_known"], 1);
    EXPECT_EQ(during["turno_lock_acquire_duration_seconds_count"], 1);
  }
  auto after = scrape().samples;
  EXPECT_EQ(after["turno_holders"], 0);
  EXPECT_EQ(after["turno_waiters"], 0);
  for (const auto* each : {"grants_released", "waits_withdrawn", "tries_refused", "things_retired",
                           "spoilt_instances", "strange_frames"}) {
    const auto of = [&](std::string_view thing) {
      return std::string("turno_") + each + "_total{thing=\"" + std::string(thing) + "\"}";
    };
    for (const auto thing : thing_names) EXPECT_TRUE(after.contains(of(thing))) << of(thing);
    const bool counted =
        std::string_view(each) == "grants_released" || std::string_view(each) == "waits_withdrawn";
    EXPECT_EQ(after[of("lock")], counted ? 1 : 0) << each;
    EXPECT_EQ(after[of("semaphore")], 0) << each;
  }
  EXPECT_EQ(after["turno_ready"], 1);
  EXPECT_EQ(after["turno_view_members"], 1);
  EXPECT_GE(after["turno_view_epoch"], 1);
  EXPECT_EQ(after["turno_build_info{version=\"" TURNO_VERSION "\"}"], 1);
  EXPECT_TRUE(after.contains(
      "turno_messages_sent_total{thing=\"lock\",algorithm=\"nxr-bh\",kind=\"control-open\"}"));
  EXPECT_GT(after["process_resident_memory_bytes"], 1e6);
  EXPECT_GT(after["process_cpu_seconds_total"], 0);
}

TEST(Metrics, CountEachKindOfThing) {
  const registry::TemporaryDirectory directory;
  TestNode node(directory.path(), "a");
  node.run();
  auto& daemon = node.server().daemon();
  Caller one(daemon.self().client_address), other(daemon.self().client_address);
  one.ask("PERMIT x OF 1");
  EXPECT_EQ(other.ask("PERMIT x TIMEOUT 0"), "null");
  EXPECT_EQ(one.ask("RELEASE x"), "1");
  one.ask("ENTER x red");
  EXPECT_EQ(other.ask("ENTER x blue TIMEOUT 30"), "null");
  EXPECT_EQ(one.ask("LEAVE x"), "1");
  one.ask("RESERVE gpu:2/2");
  EXPECT_EQ(one.ask("RETURN"), "2");
  one.ask("CAMPAIGN x me");
  EXPECT_EQ(one.ask("RESIGN x"), "1");
  for (auto* things : daemon.tables()) things->retire_idle(Clock::now() + std::chrono::hours(1), 9);
  auto samples = Scrape(get(node.http(), "/metrics").body).samples;
  const auto of = [&](const std::string& what, std::string_view thing) {
    return samples["turno_" + what + "_total{thing=\"" + std::string(thing) + "\"}"];
  };
  for (const auto* thing : {"semaphore", "room", "store", "election"})
    EXPECT_EQ(of("grants_released", thing), 1) << thing;
  EXPECT_EQ(of("grants_released", "lock"), 0);
  EXPECT_EQ(of("tries_refused", "semaphore"), 1);
  EXPECT_EQ(of("waits_withdrawn", "room"), 1);
  EXPECT_EQ(of("things_retired", "semaphore"), 1);
  EXPECT_EQ(of("things_retired", "lock"), 0);
}

TEST(Metrics, OfPeersCarryTheirNames) {
  const registry::TemporaryDirectory directory;
  TestNode first(directory.path(), "first"), second(directory.path(), "second");
  first.run();
  second.run();
  const auto up = [&] {
    return Scrape(get(first.http(), "/metrics").body).samples["turno_peer_up{peer=\"second\"}"];
  };
  EXPECT_TRUE(eventually([&] { return up() == 1; }));
  auto samples = Scrape(get(second.http(), "/metrics").body).samples;
  EXPECT_TRUE(samples.contains("turno_peer_backlog_frames{peer=\"first\"}"));
  EXPECT_TRUE(samples.contains("turno_peer_reconnections_total{peer=\"first\"}"));
  EXPECT_EQ(samples["turno_view_members"], 2);
}

TEST(Metrics, AreAllInTheManual) {
  const registry::TemporaryDirectory directory;
  TestNode node(directory.path(), "a");
  std::ifstream file(TURNO_SOURCE_DIR "/docs/metrics.md");
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  const Scrape scrape(metrics_text(node.server().daemon(), node.server().clients()));
  EXPECT_GT(scrape.types.size(), 20U);
  for (const auto& [name, type] : scrape.types) {
    EXPECT_THAT(manual, HasSubstr("`" + name)) << "not in docs/metrics.md";
    EXPECT_TRUE(type == "counter" || !name.ends_with("_total"));
  }
}

TEST(Process, KnowsItself) {
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_GT(start_time_seconds(), now - 3600);
  EXPECT_LT(start_time_seconds(), now + 2);
  EXPECT_EQ(start_time_seconds(), start_time_seconds());
  EXPECT_GT(resident_bytes(), 1'000'000U);
}

}  // namespace
}  // namespace turno::port

// Plays the golden conversations of scenarios/*.txt and compares them with what is written there.
// scenarios/README.md says how to write one. TURNO_REWRITE=1 writes what was played into the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "protocols/deadlock/central_detector.h"
#include "protocols/deadlock/probes.h"
#include "protocols/election/bully.h"
#include "protocols/election/ring.h"
#include "protocols/group/quorum_group.h"
#include "protocols/kmutex/raymond_k.h"
#include "protocols/kmutex/robust_k.h"
#include "protocols/list.h"
#include "protocols/mutex/permission/central_failover.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using testing::Cluster;
using Lines = std::vector<std::string>;

// The scenario makes no sense at this line.
struct Malformed {
  std::size_t line = 0;
  std::string why;
};

Lines split(const std::string& text, char separator) {
  Lines parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// What `conversation` says, without the first columns of each line.
Lines told(const std::vector<TraceStep>& steps, std::size_t columns = 5) {
  Lines lines;
  for (const auto& step : steps)
    for (const auto& line : split(conversation({step}), '\n'))
      lines.push_back(line.substr(columns));
  return lines;
}

// A system of some algorithm.
class Stage {
 public:
  virtual ~Stage() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  virtual Lines start() = 0;
  virtual Lines want(NodeId node, std::uint32_t group) = 0;
  virtual Lines leave(NodeId node) = 0;
  virtual Lines deliver(NodeId from, NodeId to, const std::string& kind) = 0;
  virtual Lines drain() = 0;
  virtual Lines state(NodeId node) = 0;
  virtual Lines flights() = 0;
  virtual Lines crash(NodeId node) = 0;
  virtual Lines recover(NodeId node) = 0;
  virtual Lines suspect(NodeId node, NodeId other) = 0;
  virtual Lines expire(NodeId node, const std::string& timer) = 0;
  virtual Lines choose(NodeId node, const std::string& what) = 0;
};

template <Protocol P>
class StageOf final : public Stage {
 public:
  StageOf(const Setup& setup, const std::vector<Holding>& holdings) : cluster_(setup, holdings) {}

  [[nodiscard]] std::size_t size() const override { return cluster_.size(); }
  Lines start() override { return told(cluster_.starts()); }
  Lines want(NodeId node, std::uint32_t group) override {
    return watched({cluster_.want(node, {.group = group})});
  }
  Lines leave(NodeId node) override { return watched({cluster_.leave(node)}); }
  Lines deliver(NodeId from, NodeId to, const std::string& kind) override {
    return watched({cluster_.deliver(from, to, kind)});
  }
  Lines drain() override { return watched(cluster_.drain()); }
  Lines state(NodeId node) override { return {describe_state(cluster_[node.index()])}; }
  Lines flights() override {
    if (cluster_.flights().empty()) return {"nothing is on its way"};
    TraceStep all{.node = nobody};
    for (const auto& flight : cluster_.flights())
      all.sends.push_back(trace_message(flight.from, flight.to, flight.message));
    auto lines = told({all}, 8);
    lines.erase(lines.begin());  // the headline
    return lines;
  }

  Lines crash(NodeId node) override {
    if constexpr (Mortal<P>) return watched({cluster_.crash(node)});
    throw Malformed{0, "nobody crashes in this algorithm"};
  }
  Lines recover(NodeId node) override {
    if constexpr (Recoverable<P>) return watched({cluster_.happens(node, {.kind = Kind::recover})});
    throw Malformed{0, "nobody comes back in this algorithm"};
  }
  Lines suspect(NodeId node, NodeId other) override {
    if constexpr (Suspecting<P>)
      return watched({cluster_.happens(node, {.kind = Kind::suspect, .from = other})});
    throw Malformed{0, "nobody is suspected in this algorithm"};
  }
  Lines expire(NodeId node, const std::string& timer) override {
    if constexpr (HasTimers<P>)
      for (std::uint32_t i = 0; i < P::timers.size(); ++i)
        if (P::timers[i] == timer)
          return watched({cluster_.happens(node, {.kind = Kind::expire, .number = i})});
    throw Malformed{0, "there is no timer '" + timer + "'"};
  }
  Lines choose(NodeId node, const std::string& what) override {
    if constexpr (requires(const P& state) { state.choice_name(0); })
      for (std::uint32_t i = 0; i < cluster_[node.index()].choices(); ++i)
        if (cluster_[node.index()].choice_name(i) == what)
          return watched({cluster_.happens(node, {.kind = Kind::choose, .number = i})});
    throw Malformed{0, "node " + describe(node) + " cannot '" + what + "'"};
  }

 private:
  using Kind = EventKind;

  Lines watched(const std::vector<TraceStep>& steps) {
    auto lines = told(steps);
    if (const auto broken = cluster_.broken(); !broken.empty())
      lines.push_back("BROKEN: " + broken);
    return lines;
  }

  Cluster<P> cluster_;
};

std::unique_ptr<Stage> stage_for(std::string_view algorithm, const Setup& setup,
                                 const std::vector<Holding>& holdings) {
  std::unique_ptr<Stage> stage;
  const auto build = [&]<class P>() {
    if (P::info.name == algorithm) stage = std::make_unique<StageOf<P>>(setup, holdings);
  };
  [&]<class... P>(List<P...>) {
    (build.template operator()<P>(), ...);
  }(Locks{} +
    List<RaymondK, RobustK, QuorumGroup, CentralFailover, Bully, Ring, Probes, CentralDetector>{});
  return stage;
}

std::size_t number(const std::string& text, std::size_t limit) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= limit)
    throw Malformed{0, "'" + text + "' is not a number from 0 to " + std::to_string(limit - 1)};
  return value;
}

// system ALGORITHM nodes=N [topology=T] [groups=G] [door=D] [quorums=012,013,...] [carry=B]
// [waits=W] [permits=K] [requests=direct] [holder=N] [epoch=E]
std::unique_ptr<Stage> parse_system(const Lines& words) {
  if (words.size() < 3 || words[0] != "system" || words[2].rfind("nodes=", 0) != 0)
    throw Malformed{0, "a scenario begins with: system ALGORITHM nodes=N"};
  const auto nodes = number(words[2].substr(6), 11);
  if (nodes == 0) throw Malformed{0, "a system has a node at least"};
  auto setup = testing::shaped(Topology::complete, nodes);
  setup.quorums = quorums(QuorumConstruction::cyclic, nodes);
  std::vector<Holding> holdings;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const auto name = words[i].substr(0, equals), value = words[i].substr(equals + 1);
    if (name == "topology" && topology_named(value)) {
      setup.father = testing::shaped(*topology_named(value), nodes).father;
    } else if (name == "groups") {
      setup.room.groups = static_cast<std::uint32_t>(number(value, nodes + 1));
      setup.quorums = quorums(QuorumConstruction::cyclic, setup.room.groups);
    } else if (name == "door" && (value == "leader" || value == "closed")) {
      setup.configure<QuorumGroup::Config>().door = value == "leader" ? Door::leader : Door::closed;
    } else if (name == "quorums" && split(value, ',').size() == setup.quorums.size()) {
      for (const char digit : value)
        if (digit != ',') number(std::string(1, digit), setup.quorums.size());
      setup.quorums = testing::voting(split(value, ',')).quorums;
    } else if (name == "carry") {
      setup.configure<NxrB::Config>().carry = static_cast<std::uint32_t>(number(value, 11));
    } else if (name == "waits") {
      const auto waits = static_cast<std::uint32_t>(number(value, 11));
      setup.configure<Probes::Config>().waits = waits;
      setup.configure<CentralDetector::Config>().waits = waits;
    } else if (name == "permits") {
      setup.permits = static_cast<std::uint32_t>(number(value, nodes + 1));
    } else if (name == "requests" && value == "direct") {
      setup.configure<RobustK::Config>().direct = true;
    } else if (name == "epoch") {
      setup.epoch = static_cast<std::uint32_t>(number(value, 100));
    } else if (name == "holder") {
      holdings.push_back({.seat = NodeId{number(value, nodes)}});
    } else {
      throw Malformed{0, "'" + words[i] + "' does not describe the system"};
    }
  }
  auto stage = stage_for(words[1], setup, holdings);
  if (!stage) throw Malformed{0, "there is no algorithm '" + words[1] + "'"};
  return stage;
}

Lines perform(Stage& stage, const Lines& words) {
  const auto is = [&](const char* name, std::size_t least, std::size_t most) {
    return words[0] == name && words.size() > least && words.size() <= most + 1;
  };
  const auto node = [&](std::size_t word) { return NodeId{number(words[word], stage.size())}; };
  if (is("want", 1, 2))
    return stage.want(node(1), words.size() > 2 ? node(2).value : std::uint32_t{0});
  if (is("leave", 1, 1)) return stage.leave(node(1));
  if (is("deliver", 2, 3)) return stage.deliver(node(1), node(2), words.size() > 3 ? words[3] : "");
  if (is("drain", 0, 0)) return stage.drain();
  if (is("state", 1, 1)) return stage.state(node(1));
  if (is("flights", 0, 0)) return stage.flights();
  if (is("crash", 1, 1)) return stage.crash(node(1));
  if (is("recover", 1, 1)) return stage.recover(node(1));
  if (is("suspect", 2, 2)) return stage.suspect(node(1), node(2));
  if (is("expire", 2, 2)) return stage.expire(node(1), words[2]);
  if (is("choose", 2, 9)) {
    std::string what = words[2];
    for (std::size_t i = 3; i < words.size(); ++i) what += " " + words[i];
    return stage.choose(node(1), what);
  }
  throw Malformed{0,
                  "not a command: want N [GROUP], leave N, deliver FROM TO [KIND], drain, state N, "
                  "flights, crash N, recover N, suspect N M, expire N TIMER, choose N WHAT"};
}

// A command of a scenario, what is written below it, and what was played.
struct Played {
  std::size_t line;
  std::string command;
  Lines written, heard;
};

// Throws Malformed.
std::vector<Played> play(const std::string& text) {
  std::vector<Played> all;
  std::unique_ptr<Stage> stage;
  bool below_command = false;
  std::size_t at = 0;
  for (const auto& line : split(text, '\n')) {
    ++at;
    if (line.rfind("    ", 0) == 0) {
      if (!below_command) throw Malformed{at, "this output belongs to no command"};
      all.back().written.push_back(line.substr(4));
      continue;
    }
    below_command = !line.empty() && line[0] != '#';
    if (!below_command) continue;
    const auto words = split(line, ' ');
    try {
      if (stage) {
        all.push_back({at, line, {}, perform(*stage, words)});
      } else {
        stage = parse_system(words);
        all.push_back({at, line, {}, stage->start()});
      }
    } catch (Malformed& malformed) {
      malformed.line = at;
      throw;
    } catch (const std::logic_error& impossible) {
      throw Malformed{at, impossible.what()};
    }
  }
  if (!stage) throw Malformed{at, "a scenario begins with: system ALGORITHM nodes=N"};
  return all;
}

std::string rewritten(const std::string& text, const std::vector<Played>& all) {
  std::string result;
  std::size_t at = 0, next = 0;
  for (const auto& line : split(text, '\n')) {
    ++at;
    if (line.rfind("    ", 0) == 0) continue;
    result += line + "\n";
    if (next == all.size() || all[next].line != at) continue;
    for (const auto& heard : all[next].heard) result += "    " + heard + "\n";
    ++next;
  }
  return result;
}

// The lines that differ, with - for what is written and + for what was played.
std::string difference(Lines written, Lines heard) {
  std::string common, after;
  while (!written.empty() && !heard.empty() && written.front() == heard.front()) {
    common += "    " + written.front() + "\n";
    written.erase(written.begin());
    heard.erase(heard.begin());
  }
  while (!written.empty() && !heard.empty() && written.back() == heard.back()) {
    after = "    " + written.back() + "\n" + after;
    written.pop_back();
    heard.pop_back();
  }
  for (const auto& line : written) common += "  - " + line + "\n";
  for (const auto& line : heard) common += "  + " + line + "\n";
  return common + after;
}

const std::filesystem::path folder = std::filesystem::path(TURNO_SOURCE_DIR) / "scenarios";

std::vector<std::filesystem::path> scenarios() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Scenarios, PlayAsWritten) {
  const bool rewrite = std::getenv("TURNO_REWRITE") != nullptr;
  for (const auto& path : scenarios()) {
    const auto text = contents(path);
    try {
      const auto all = play(text);
      if (rewrite) std::ofstream(path) << rewritten(text, all);
      for (const auto& [line, command, written, heard] : all)
        if (written != heard && !rewrite)
          ADD_FAILURE_AT(path.c_str(), static_cast<int>(line))
              << command << "\n"
              << difference(written, heard) << "TURNO_REWRITE=1 accepts this.";
    } catch (const Malformed& malformed) {
      ADD_FAILURE_AT(path.c_str(), static_cast<int>(malformed.line)) << malformed.why;
    }
  }
}

TEST(Scenarios, TellOfEveryLock) {
  std::set<std::string> told_of;
  for (const auto& path : scenarios())
    for (const auto& line : split(contents(path), '\n'))
      if (line.rfind("system ", 0) == 0) told_of.insert(split(line, ' ').at(1));
  std::set<std::string> locks;
  [&]<class... P>(List<P...>) { (locks.insert(std::string(P::info.name)), ...); }(Locks{});
  EXPECT_TRUE(std::includes(told_of.begin(), told_of.end(), locks.begin(), locks.end()));
}

TEST(Scenarios, BeginWithTheirStory) {
  for (const auto& path : scenarios())
    EXPECT_EQ(contents(path).rfind("# ", 0), 0U) << path << " does not say what it tells";
}

// The runner itself must notice what is wrong.

const std::string good =
    "# A story.\n"
    "system central nodes=2\n"
    "\n"
    "want 1\n"
    "    1 wants in\n"
    "       1 -> 0 request\n";

TEST(ScenarioRunner, HearsWhatIsWritten) {
  const auto all = play(good);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].line, 4U);
  EXPECT_EQ(all[1].written, all[1].heard);
  EXPECT_EQ(rewritten(good, all), good);
}

TEST(ScenarioRunner, ShowsADifferenceAndCorrectsIt) {
  const auto wrong = std::string(good).replace(good.find("1 -> 0"), 6, "1 -> 7") + "drain\n    x\n";
  const auto all = play(wrong);
  EXPECT_NE(all[1].written, all[1].heard);
  EXPECT_EQ(difference(all[1].written, all[1].heard),
            "    1 wants in\n"
            "  -    1 -> 7 request\n"
            "  +    1 -> 0 request\n");
  EXPECT_EQ(rewritten(wrong, all), good +
                                       "drain\n"
                                       "    0 gets request from 1\n"
                                       "       0 -> 1 grant(fence 1)\n"
                                       "    1 gets grant(fence 1) from 0, enters (fence 1)\n");
}

TEST(ScenarioRunner, RefusesWhatMakesNoSense) {
  const auto complaint = [](const std::string& more) -> std::string {
    try {
      play(good + more + "\n");
    } catch (const Malformed& malformed) {
      return std::to_string(malformed.line) + ": " + malformed.why;
    }
    return "none";
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(complaint("leave 0"), "7: node 0 is not inside");
  EXPECT_EQ(complaint("want 1"), "7: node 1 has already asked");
  EXPECT_EQ(complaint("deliver 0 1"), "7: no message is on its way from 0 to 1");
  EXPECT_EQ(complaint("deliver 1 0 grant"), "7: no grant is on its way from 1 to 0");
  EXPECT_EQ(complaint("want 2"), "7: '2' is not a number from 0 to 1");
  EXPECT_EQ(complaint("want one"), "7: 'one' is not a number from 0 to 1");
  for (const auto* wrong :
       {"sing", "want", "want 1 0 0", "deliver 1", "drain 1", "system central nodes=2"})
    EXPECT_THAT(complaint(wrong), HasSubstr("7: not a command"));
  EXPECT_EQ(complaint("# no command\n    output"), "8: this output belongs to no command");
  EXPECT_EQ(complaint("deliver 1 0"), "none");
}

TEST(ScenarioRunner, RefusesASystemThatMakesNoSense) {
  for (const auto* wrong :
       {"", "want 1", "system", "system central", "system raft nodes=3", "system central nodes=0",
        "system central nodes=x", "system nxr nodes=3 topology=knot",
        "system maekawa nodes=3 quorums=01,12", "system maekawa nodes=2 quorums=01,12",
        "system nxr nodes=3 holder=3", "system nxr nodes=3 colour=red"})
    EXPECT_THROW(play(std::string("# A story.\n") + wrong + "\n"), Malformed) << wrong;
}

TEST(ScenarioRunner, ShowsABrokenPromise) {
  const auto all = play(
      "system lamport nodes=2\nwant 0\nwant 1\ndeliver 1 0 request\ndeliver 0 1 acknowledge\n");
  EXPECT_EQ(all.back().heard.back(), "BROKEN: two are inside");
}

}  // namespace
}  // namespace turno::protocols

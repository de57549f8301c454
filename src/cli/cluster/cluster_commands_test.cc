// The commands around a cluster, as a user runs them: real processes, real sockets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "registry/registry_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;  // as a shell would say it
  std::string output, errors;
};

class ClusterCommands : public ::testing::Test {
 protected:
  ~ClusterCommands() override { turno({"down", "--dir", directory(), "--kill-after", "1s"}); }

  [[nodiscard]] std::string directory() const { return folder_.path() / "cluster"; }
  [[nodiscard]] std::string contents(const std::string& file) const {
    std::ifstream in(folder_.path() / file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  [[nodiscard]] pid_t start(Words words, const std::string& name) const {
    words.insert(words.begin(), TURNO_BINARY);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string out = folder_.path() / (name + ".out"),
                      err = folder_.path() / (name + ".err");
    const auto pid = ::fork();
    if (pid != 0) return pid;
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  [[nodiscard]] Outcome finish(pid_t pid, const std::string& name) const {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            contents(name + ".out"), contents(name + ".err")};
  }
  Outcome turno(const Words& words) const { return finish(start(words, "command"), "command"); }
  // A command about this cluster.
  [[nodiscard]] Outcome here(Words words) const {
    words.insert(words.end(), {"--dir", directory()});
    return turno(words);
  }
  [[nodiscard]] json::object parsed(Words words) const {
    words.emplace_back("--json");
    const auto outcome = here(words);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    std::error_code error;
    auto value = json::parse(outcome.output, error);
    EXPECT_FALSE(error) << outcome.output;
    return error ? json::object() : value.as_object();
  }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> all;
    const auto answer = parsed({"members"});
    for (const auto& member : answer.at("members").as_array())
      all.push_back(static_cast<pid_t>(member.at("pid").as_int64()));
    return all;
  }
  [[nodiscard]] std::unique_ptr<Client> client_of(const std::string& node,
                                                  const std::string& name) const {
    auto client = Client::connect(directory() + "/" + node + ".sock", {.name = name});
    EXPECT_TRUE(client) << client.error().message;
    return std::move(*client);
  }

  template <class Condition>
  static bool eventually(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
    return condition();
  }
  static bool alive(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(in, line);
    return in && line.find(") Z") == std::string::npos;
  }

  const registry::TemporaryDirectory folder_;
};

TEST_F(ClusterCommands, TellWhoHoldsAndWhoWaits) {
  const auto up = parsed({"up", "-n", "3", "--detach", "--algorithm", "naimi-trehel"});
  EXPECT_EQ(up.at("directory"), json::value(directory()));
  EXPECT_EQ(up.at("algorithm"), "naimi-trehel");
  EXPECT_EQ(up.at("started").as_array(), (json::array{"node-1", "node-2", "node-3"}));
  EXPECT_EQ(up.at("members").as_array().size(), 3U);
  EXPECT_THAT(contents("cluster/logs/node-2.log"), HasSubstr("listens for clients"));

  EXPECT_EQ(here({"locks"}).output, "No lock is held.\n");
  EXPECT_THAT(here({"why", "L"}).output, HasSubstr("'L' is free: nobody holds it"));

  const auto holder = client_of("node-2", "the-holder");
  auto grant = *holder->acquire("L");
  const auto odd = client_of("node-3", "odd");
  const auto strange = *odd->acquire("a\x1b[31m\xff");
  std::jthread waiting([&](const std::stop_token& stop) {
    const auto waiter = client_of("node-1", "the-waiter");
    static_cast<void>(waiter->acquire("L", {}, stop));
  });
  ASSERT_TRUE(eventually([&] {
    return parsed({"waiters", "L"}).at("waiters").as_array().size() == 1;
  }));

  const auto status = parsed({"status"});
  EXPECT_EQ(status.at("algorithm"), "naimi-trehel");
  EXPECT_EQ(status.at("epoch"), 3);
  EXPECT_EQ(status.at("held"), 2);
  EXPECT_EQ(status.at("waiting"), 1);
  const auto& second = status.at("members").as_array()[1].as_object();
  EXPECT_EQ(second.at("name"), "node-2");
  EXPECT_EQ(second.at("state"), "ready");
  EXPECT_EQ(second.at("answers"), true);
  EXPECT_EQ(second.at("held"), 1);
  EXPECT_EQ(second.at("connected_clients"), 1);
  EXPECT_THAT(here({"status"}).output, AllOf(HasSubstr("3 nodes, algorithm naimi-trehel, epoch 3"),
                                             HasSubstr("2 locks held, 1 client waiting")));

  const auto locks = parsed({"locks"}).at("locks").as_array();
  ASSERT_EQ(locks.size(), 2U);
  EXPECT_EQ(locks[0].at("name"), "L");
  EXPECT_EQ(locks[0].at("waiting"), 1);
  EXPECT_EQ(locks[0].at("holder").at("client"), "the-holder");
  EXPECT_EQ(locks[0].at("holder").at("node"), "node-2");
  EXPECT_EQ(locks[0].at("holder").at("fence").to_number<std::uint64_t>(), grant.fence());
  EXPECT_EQ(locks[1].at("name"), "a\\x1b[31m\\xff");
  EXPECT_THAT(here({"locks"}).output,
              AllOf(HasSubstr("the-holder"), HasSubstr("a\\x1b[31m\\xff"), Not(HasSubstr("\x1b"))));

  EXPECT_THAT(here({"waiters", "L"}).output, AllOf(HasSubstr("the-waiter"), HasSubstr("node-1")));
  EXPECT_THAT(here({"why", "L"}).output,
              AllOf(HasSubstr("'L' is held by the-holder, session"), HasSubstr("at node-2"),
                    HasSubstr("1. the-waiter, session"), HasSubstr("becomes free when")));
  const auto why = parsed({"why", "L"});
  EXPECT_EQ(why.at("held"), true);
  EXPECT_EQ(why.at("holder").at("client"), "the-holder");
  EXPECT_EQ(why.at("waiters").as_array()[0].at("position"), 1);
  EXPECT_EQ(turno({"why", "L", "--node", directory() + "/node-3.sock"}).status, 0);

  grant.release();
  EXPECT_TRUE(eventually([&] { return !parsed({"why", "L"}).at("held").as_bool(); }));
}

TEST_F(ClusterCommands, GrowAndEndACluster) {
  EXPECT_EQ(here({"down"}).output, "No node runs in " + directory() + ".\n");
  auto outcome = here({"up", "-n", "2", "-d"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("2 nodes in " + directory()), HasSubstr("node-2.sock"),
                    HasSubstr("export TURNO_DIR=" + directory()), HasSubstr("down stops them")));
  const auto started = parsed({"up", "-n", "1", "-d"}).at("started").as_array();
  EXPECT_EQ(started, json::array{"node-3"});
  outcome = here({"up", "-n", "1", "-d", "--algorithm", "lamport"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.errors, HasSubstr("runs nxr-bh, not lamport"));
  outcome = here({"up", "-n", "126", "-d"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.errors, HasSubstr("already has 3 nodes"));

  const auto all = pids();
  ASSERT_EQ(all.size(), 3U);
  ::kill(all[2], SIGKILL);
  EXPECT_TRUE(eventually([&] { return pids().size() == 2; }));
  ::kill(all[0], SIGSTOP);
  outcome = here({"status"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("no answer"), HasSubstr("ready"), HasSubstr("1 node did not")));
  outcome = here({"down", "--kill-after", "300ms"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("killed  node-1"), HasSubstr("stopped node-2"),
                                    HasSubstr("2 of 2 nodes stopped")));
  for (const auto pid : all) EXPECT_FALSE(alive(pid));
  EXPECT_TRUE(parsed({"down"}).at("nodes").as_array().empty());
  outcome = here({"status"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.errors,
              AllOf(HasSubstr("no node runs in " + directory()), HasSubstr("start one: ")));
}

TEST_F(ClusterCommands, UpInTheForegroundEndsWithItsNodes) {
  const auto up = [&](const std::string& name) {
    const auto pid = start({"up", "-n", "3", "--dir", directory()}, name);
    EXPECT_TRUE(eventually([&] { return contents(name + ".out").ends_with("the nodes.\n"); }))
        << contents(name + ".err");
    return pid;
  };
  auto pid = up("first");
  auto all = pids();
  ::kill(all[1], SIGKILL);
  const auto report = "node-2 (pid " + std::to_string(all[1]) + ") ended with signal 9";
  EXPECT_TRUE(eventually([&] { return contents("first.err").find(report) != std::string::npos; }));
  EXPECT_TRUE(alive(all[0]));
  ::kill(pid, SIGINT);
  EXPECT_EQ(finish(pid, "first").status, 0);
  for (const auto each : all) EXPECT_FALSE(alive(each));

  pid = up("second");
  all = pids();
  ::kill(pid, SIGKILL);
  EXPECT_EQ(finish(pid, "second").status, 128 + SIGKILL);
  for (const auto each : all) EXPECT_TRUE(eventually([&] { return !alive(each); }));

  pid = up("third");
  EXPECT_EQ(here({"down"}).status, 0);
  const auto outcome = finish(pid, "third");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("no node is left"));
}

TEST_F(ClusterCommands, SayWhatIsWrong) {
  const auto expect = [&](const Words& words, int status, const std::string& text) {
    const auto outcome = turno(words);
    EXPECT_EQ(outcome.status, status) << ::testing::PrintToString(words);
    EXPECT_THAT(outcome.errors, HasSubstr(text));
    EXPECT_EQ(outcome.output, "");
  };
  const std::string file = folder_.path() / "file";
  std::ofstream(file) << "not a directory\n";
  expect({"up", "-n", "0"}, 64, "1 to 128 nodes");
  expect({"up", "-n", "129"}, 64, "1 to 128 nodes");
  expect({"up", "--dir", directory(), "--algorithm", "nxrr"}, 64, "did you mean nxr");
  expect({"up", "--dir", directory(), "--idle", "soon"}, 64, "--idle");
  expect({"up", "--dir", file, "-n", "1"}, 125, "cannot make " + file);
  expect({"status", "--node", "127.0.0.1:1"}, 125, "no node answers at 127.0.0.1:1");
  expect({"locks", "--node", "nonsense"}, 125, "nonsense");
  expect({"why", "--dir", directory()}, 64, "NAME is required");
  expect({"down", "--kill-after", "soon"}, 64, "--kill-after");
  // The node itself says why it cannot start.
  std::filesystem::create_directories(directory());
  std::filesystem::create_directories(directory() + "/node-1.sock/in-the-way");
  expect({"up", "--dir", directory(), "-n", "1"}, 125, "node-1 did not start:\n");
}

}  // namespace
}  // namespace turno

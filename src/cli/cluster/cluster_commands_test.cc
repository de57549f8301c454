// The commands around a cluster, as a user runs them: real processes, real sockets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/cluster/cluster_commands_testing.h"
#include "port/http/http_testing.h"

namespace turno {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ClusterCommands, TellWhoHoldsAndWhoWaits) {
  const auto up = parsed({"up", "-n", "3", "--detach", "--algorithm", "naimi-trehel"});
  EXPECT_EQ(up.at("directory"), json::value(directory()));
  EXPECT_EQ(up.at("algorithm"), "naimi-trehel");
  EXPECT_EQ(up.at("started").as_array(), (json::array{"node-1", "node-2", "node-3"}));
  EXPECT_EQ(up.at("members").as_array().size(), 3U);
  EXPECT_EQ(here({"members", "--names"}).output, "node-1\nnode-2\nnode-3\n");
  EXPECT_THAT(contents("cluster/logs/node-2.log"), HasSubstr("listens for clients"));

  EXPECT_EQ(here({"locks"}).output, "Nothing is held.\n");
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
  EXPECT_EQ(locks[0].at("holder").at("fence").as_string(), std::to_string(grant.fence()));
  EXPECT_EQ(locks[1].at("name"), "a\\x1b[31m\\xff");
  EXPECT_THAT(here({"locks"}).output,
              AllOf(HasSubstr("the-holder"), HasSubstr("a\\x1b[31m\\xff"), Not(HasSubstr("\x1b"))));

  EXPECT_THAT(here({"waiters", "L"}).output, AllOf(HasSubstr("the-waiter"), HasSubstr("node-1")));
  EXPECT_THAT(here({"why", "L"}).output,
              AllOf(HasSubstr("'L' is held by the-holder (unix:pid="), HasSubstr("at node-2"),
                    HasSubstr("1. the-waiter (unix:pid="), HasSubstr("becomes free when")));
  const auto why = parsed({"why", "L"});
  EXPECT_EQ(why.at("held"), true);
  EXPECT_EQ(why.at("holder").at("client"), "the-holder");
  EXPECT_EQ(why.at("waiters").as_array()[0].at("position"), 1);
  EXPECT_EQ(turno({"why", "L", "--node", directory() + "/node-3.sock"}).status, 0);

  grant.release();
  EXPECT_TRUE(eventually([&] { return !parsed({"why", "L"}).at("held").as_bool(); }));
}

TEST_F(ClusterCommands, ExplainWhoWaitsForWhomUpToTheCircle) {
  EXPECT_EQ(here({"up", "-n", "2", "--deadlock", "pray"}).status, 64);
  EXPECT_EQ(here({"up", "-n", "2", "--detach", "--deadlock", "detect"}).status, 0);
  const auto anna = client_of("node-1", "anna"), bert = client_of("node-2", "bert");
  auto disk = *anna->acquire("disk"), tape = *bert->acquire("tape");
  std::jthread one(
      [&](const std::stop_token& stop) { static_cast<void>(anna->acquire("tape", {}, stop)); });
  ASSERT_TRUE(eventually([&] {
    return parsed({"why", "disk"}).at("chain").as_array().size() == 2;
  }));
  auto why = parsed({"why", "disk"});
  EXPECT_EQ(why.at("chain").as_array()[0].at("waits_for").at("name"), "tape");
  EXPECT_TRUE(why.at("chain").as_array()[1].at("waits_for").is_null());
  EXPECT_TRUE(why.at("deadlock").is_null());
  std::jthread other(
      [&](const std::stop_token& stop) { static_cast<void>(bert->acquire("disk", {}, stop)); });
  EXPECT_TRUE(eventually([&] { return !parsed({"why", "disk"}).at("deadlock").is_null(); }));
  why = parsed({"why", "disk"});
  EXPECT_EQ(why.at("chain").as_array()[1].at("client"), "bert");
  EXPECT_EQ(why.at("chain").as_array()[1].at("stuck"), true);
  EXPECT_THAT(here({"why", "disk"}).output,
              AllOf(HasSubstr("Who has it waits, too:"), HasSubstr("waits for lock 'tape', for"),
                    HasSubstr("This is a deadlock")));
}

// A stopped node is not dead: what it holds is not free, and nobody says so.
TEST_F(ClusterCommands, NeverSayThatALockIsFreeWhichAStoppedNodeMayHold) {
  EXPECT_EQ(here({"up", "-n", "3", "--detach"}).status, 0);
  const auto holder = client_of("node-2", "the-holder");
  std::vector<Grant> grants;
  for (const auto* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    grants.push_back(*holder->acquire(name));
  Election election(*holder, "el");
  grants.push_back(*election.campaign("its value"));
  std::this_thread::sleep_for(milliseconds(100));  // so that their homes are told
  const auto pid = pids()[1];
  const auto number = std::to_string(pid);
  ::kill(pid, SIGSTOP);
  const auto told = HasSubstr("node-2 (pid " + number + ", stopped) did not answer: `kill -CONT " +
                              number + "` lets it go on, `kill -9 " + number + "` ends it");
  std::size_t perhaps = 0;
  for (const auto* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    auto outcome = here({"why", name});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.output, AllOf(told, Not(HasSubstr("is free"))));
    outcome = here({"why", name, "--json"});
    EXPECT_EQ(outcome.status, 2);
    const auto why = json::parse(outcome.output).as_object();
    EXPECT_TRUE(why.at("held").is_null());
    EXPECT_EQ(why.at("complete"), false);
    EXPECT_EQ(why.at("silent").as_array()[0].at("name"), "node-2");
    EXPECT_EQ(why.at("silent").as_array()[0].at("pid"), pid);
    EXPECT_EQ(why.at("silent").as_array()[0].at("state"), "stopped");
    perhaps += why.contains("perhaps_held") ? 1 : 0;
  }
  EXPECT_GT(perhaps, 0U) << "the homes of some of them live";
  for (const auto& command : {Words{"locks"}, Words{"waiters", "a"}}) {
    const auto outcome = here(command);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, told);
  }
  EXPECT_EQ(here({"leader", "el"}).status, 2);
  EXPECT_EQ(parsed({"leader", "el"}).at("complete"), false);
  auto outcome =
      turno({"lock", "a", "-w", "300ms", "--node", directory() + "/node-1.sock", "true"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.errors, HasSubstr("node-2"));
  outcome = here({"status"});
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("no answer: stopped"), told));
  ::kill(pid, SIGCONT);
  EXPECT_TRUE(eventually([&] { return here({"why", "a"}).status == 0; }));
  EXPECT_EQ(parsed({"why", "a"}).at("holder").at("client"), "the-holder");
  EXPECT_EQ(here({"why", "z"}).status, 0);

  ::kill(pid, SIGKILL);
  const auto crashed = [&] { return parsed({"status"}).at("crashed").as_array(); };
  ASSERT_TRUE(eventually([&] { return !crashed().empty(); }));
  EXPECT_EQ(crashed()[0].at("name"), "node-2");
  EXPECT_EQ(crashed()[0].at("pid"), pid);
  EXPECT_THAT(here({"status"}).output, HasSubstr("crashed: node-2 (pid " + number + "), "));
  EXPECT_THAT(contents("cluster/logs/node-1.log"),
              HasSubstr("2 members; node-2 (pid " + number + ") crashed"));
}

// What nodes that died may have held is kept for their clients, and that is no holder.
TEST_F(ClusterCommands, TellForWhomALockIsKept) {
  EXPECT_EQ(here({"up", "-n", "2", "--detach", "--lock-delay", "20s"}).status, 0);
  const auto holder = client_of("node-2", "the-holder");
  const auto grant = *holder->acquire("a");
  ::kill(pids()[1], SIGKILL);
  ASSERT_TRUE(eventually([&] { return pids().size() == 1; }));
  EXPECT_TRUE(parsed({"why", "a"}).contains("kept")) << "also if nobody has asked for it since";
  const auto other = client_of("node-1", "other");
  EXPECT_FALSE(other->acquire("a", {.timeout = milliseconds(100)}));
  std::jthread waiting(
      [&](const std::stop_token& stop) { static_cast<void>(other->acquire("a", {}, stop)); });
  ASSERT_TRUE(eventually([&] { return parsed({"why", "a"}).contains("kept"); }));
  const auto why = parsed({"why", "a"});
  EXPECT_EQ(why.at("held"), true);
  EXPECT_FALSE(why.contains("holder"));
  EXPECT_EQ(why.at("kept").at("for"), "node-2");
  EXPECT_GT(why.at("kept").at("free_in_ms").as_int64(), 0);
  EXPECT_THAT(here({"why", "a"}).output, HasSubstr("'a' is kept for node-2, free in "));
  EXPECT_EQ(parsed({"locks"}).at("locks").as_array()[0].at("kept").at("for"), "node-2");
  EXPECT_THAT(here({"locks"}).output, HasSubstr("(kept for node-2)"));
}

// It has moved, and was released where it is now; but somebody else keeps its node from leaving.
TEST_F(ClusterCommands, TellThatALockIsKeptByANodeThatLeaves) {
  EXPECT_EQ(here({"up", "-n", "2", "--detach", "--lock-delay", "20s"}).status, 0);
  const auto mover = client_of("node-2", "mover"), stays = client_of("node-2", "stays");
  auto grant = *mover->acquire("a");
  auto permit = *Semaphore(*stays, "s", 1).acquire(Request());
  ::kill(pids()[1], SIGTERM);
  const auto who = [&] {
    const auto why = parsed({"why", "a"});
    return why.contains("holder") ? std::string(why.at("holder").at("node").as_string()) : "";
  };
  ASSERT_TRUE(eventually([&] { return who() == "node-1"; }));
  grant.release();
  ASSERT_TRUE(eventually([&] { return who().empty(); }));
  const auto why = parsed({"why", "a"});
  EXPECT_EQ(why.at("held"), true);
  EXPECT_EQ(why.at("leaving").at("node"), "node-2");
  EXPECT_THAT(here({"why", "a"}).output, HasSubstr("'a' is kept by node-2, which leaves"));
  EXPECT_EQ(parsed({"locks"}).at("locks").as_array()[0].at("leaving").at("node"), "node-2");
  EXPECT_THAT(here({"locks"}).output, HasSubstr("(free when its node has left)"));
  const auto tried = turno({"lock", "a", "-n", "--node", directory() + "/node-1.sock", "true"});
  EXPECT_EQ(tried.status, 124);
  EXPECT_THAT(tried.errors, HasSubstr("lock 'a' is kept by node node-2, which leaves"));
  permit.release();
  EXPECT_TRUE(eventually([&] { return parsed({"why", "a"}).at("held") == false; }));
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
  EXPECT_EQ(outcome.status, 2);
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

// Whoever knew a node by its name or its ports finds it again.
TEST_F(ClusterCommands, UpPutsANodeWhereOneCrashed) {
  const auto members = [&] { return parsed({"members"}).at("members").as_array(); };
  EXPECT_EQ(here({"up", "-n", "2", "-d"}).status, 0);
  const auto before = members();
  std::this_thread::sleep_for(std::chrono::seconds(2));  // so that its socket is surely an old one
  ::kill(pids()[0], SIGKILL);
  ASSERT_TRUE(eventually([&] { return members().size() == 1; }));
  const auto socket = directory() + "/node-1.sock";
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(socket); }));
  const auto metrics = port::get(std::string(before[1].at("http").as_string()), "/metrics").body;
  EXPECT_THAT(metrics, ::testing::ContainsRegex("turno_last_crash_timestamp_seconds [1-9]"));
  EXPECT_THAT(port::get(std::string(before[1].at("http").as_string()), "/status").body,
              HasSubstr(R"("socket":")" + directory() + "/node-2.sock"));
  EXPECT_EQ(parsed({"up", "-n", "1", "-d"}).at("started").as_array(), json::array{"node-1"});
  const auto after = members();
  EXPECT_EQ(after[1].at("client"), before[0].at("client"));
  EXPECT_EQ(after[1].at("http"), before[0].at("http"));

  for (const auto& wrong :
       {Words{"--lock-delay", "5s"}, Words{"--idle", "5s"}, Words{"--algorithm", "lamport"}}) {
    auto words = Words{"up", "-n", "1", "-d"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const auto outcome = here(words);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.errors, HasSubstr("leave " + wrong[0] + " out"));
  }
  EXPECT_EQ(here({"up", "-n", "1", "-d", "--lock-delay", "1s"}).status, 0);
  auto outcome = here({"up", "-n", "1", "-d", "--latency", "node-1,node-9:50ms"});
  EXPECT_EQ(outcome.status, 64);
  EXPECT_THAT(outcome.errors, HasSubstr("there is no node 'node-9'"));
  outcome = here({"node", "--name", "node-1"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.errors, HasSubstr("a node named 'node-1' already runs in this cluster (pid"));
  outcome = turno({"locks", "--node", std::string(after[0].at("http").as_string())});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.errors, HasSubstr("speaks HTTP, not RESP"));
}

// What log rotation does.
TEST_F(ClusterCommands, AHangupOpensTheLogAgainAndEndsNothing) {
  EXPECT_EQ(here({"up", "-n", "1", "-d"}).status, 0);
  const std::filesystem::path log = directory() + "/logs/node-1.log";
  std::filesystem::rename(log, log.string() + ".1");
  const auto pid = pids()[0];
  ::kill(pid, SIGHUP);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(log); }));
  EXPECT_EQ(here({"up", "-n", "1", "-d"}).status, 0);
  EXPECT_TRUE(alive(pid));
  EXPECT_THAT(contents("cluster/logs/node-1.log"), HasSubstr("view 2: 2 members"));
  EXPECT_THAT(contents("cluster/logs/node-1.log.1"), Not(HasSubstr("view 2")));
}

// Locks go on; what cannot be written down is told by those who live.
TEST_F(ClusterCommands, TellOfAFullDisk) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small disk";
  std::filesystem::create_directory(directory());
  if (std::system(
          ("mount -t tmpfs -o size=512k,mode=0700 none " + directory() + " 2>/dev/null").c_str()) !=
      0)
    GTEST_SKIP() << "cannot mount here";
  EXPECT_EQ(here({"up", "-n", "2", "-d"}).status, 0);
  const auto all = pids();
  const auto http =
      std::string(parsed({"members"}).at("members").as_array()[0].at("http").as_string());
  {
    std::ofstream filler(directory() + "/filler", std::ios::binary);
    while (filler.write("x", 1).flush()) continue;
  }
  const auto up = here({"up", "-n", "1", "-d"});
  EXPECT_EQ(up.status, 125);
  EXPECT_THAT(up.errors, AllOf(HasSubstr("node-3"), HasSubstr("No space left on device")));
  ::kill(all[1], SIGKILL);
  const auto trouble = [&] {
    return std::string(parsed({"status"}).at("registry_trouble").as_string());
  };
  EXPECT_TRUE(eventually([&] { return trouble().find("full") != std::string::npos; }));
  EXPECT_THAT(port::get(http, "/metrics").body, HasSubstr("turno_registry_failing 1\n"));
  const auto status = here({"status"});
  EXPECT_THAT(status.output,
              AllOf(::testing::ContainsRegex("no answer: (gone|dead)"), HasSubstr("disk is full")));
  EXPECT_TRUE(std::filesystem::remove(directory() + "/filler"));
  EXPECT_TRUE(eventually([&] { return trouble().empty() && pids().size() == 1; }));
  EXPECT_EQ(here({"down"}).status, 0);
  EXPECT_EQ(std::system(("umount -l " + directory()).c_str()), 0);
}

TEST_F(ClusterCommands, ANodeThatCannotStartLeavesNoSocketAndItsStatusIsTrue) {
  const auto pid = ::fork();
  if (pid == 0) {
    ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO);
    ::execl(TURNO_BINARY, "turno", "node", "--dir", "/proc/x", nullptr);
    ::_exit(99);
  }
  EXPECT_EQ(finish(pid, "nothing").status, 125);
  // The registry is not one, so it cannot join; by then it has made its socket.
  std::filesystem::create_directories(directory() + "/registry.db/in-the-way");
  EXPECT_EQ(here({"node", "--name", "n"}).status, 125);
  EXPECT_FALSE(std::filesystem::exists(directory() + "/n.sock"));
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
  expect({"up", "--dir", file, "-n", "1"}, 125, file + " is not a directory");
  expect({"up", "--dir", directory(), "--latency", "node-1,node-9:50ms", "-n", "2"}, 64,
         "'node-9'");
  expect({"status", "--node", "127.0.0.1:1"}, 125, "no node answers at 127.0.0.1:1");
  expect({"locks", "--node", "nonsense"}, 125, "nonsense");
  expect({"why", "--dir", directory()}, 64, "NAME is required");
  expect({"down", "--kill-after", "soon"}, 64, "--kill-after");
  // The node itself says why it cannot start.
  std::filesystem::create_directories(directory());
  std::filesystem::create_directories(directory() + "/node-1.sock/in-the-way");
  expect({"up", "--dir", directory(), "-n", "1"}, 125, "node-1 did not start:\n");
}

TEST_F(ClusterCommands, TellWhoLeads) {
  (void)parsed({"up", "-n", "3", "--detach"});
  EXPECT_EQ(here({"leader", "boss"}).status, 1);
  EXPECT_THAT(here({"leader", "boss"}).errors, HasSubstr("nobody leads 'boss'"));
  const auto follower = start({"leader", "boss", "--follow", "--dir", directory()}, "follower");
  EXPECT_TRUE(eventually([&] { return contents("follower.out") == "nobody\n"; }));
  const auto one = client_of("node-2", "the-leader"), two = client_of("node-1", "the-next");
  auto grant = *Election(*one, "boss").campaign("10.0.0.7:80");
  const auto term = std::to_string(grant.fence());
  const auto line = "10.0.0.7:80 (term " + term + ", the-leader at node-2)\n";
  EXPECT_EQ(here({"leader", "boss"}).output, line);
  const auto leader = parsed({"leader", "boss"});
  EXPECT_EQ(leader.at("leader").at("value"), "10.0.0.7:80");
  EXPECT_EQ(leader.at("leader").at("term").as_string(), term);
  EXPECT_EQ(leader.at("complete"), true);
  std::jthread next(
      [&] { (void)Election(*two, "boss").campaign("x", {.timeout = std::chrono::seconds(30)}); });
  EXPECT_TRUE(eventually([&] {
    return parsed({"waiters", "boss"}).at("waiters").as_array().size() == 1;
  }));

  const auto locks = parsed({"locks"}).at("locks").as_array();
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].at("kind"), "election");
  const auto why = here({"why", "boss"}).output;
  EXPECT_THAT(why, HasSubstr("leads 'boss', session"));
  EXPECT_THAT(why, HasSubstr("(term " + term + ", value 10.0.0.7:80)"));
  EXPECT_THAT(why, HasSubstr("when its leader resigns"));
  EXPECT_EQ(parsed({"why", "boss"}).at("holder").at("value"), "10.0.0.7:80");
  EXPECT_EQ(parsed({"why", "boss", "--kind", "lock"}).at("held"), false);
  EXPECT_EQ(here({"why", "boss", "--kind", "door"}).status, 64);
  EXPECT_THAT(here({"status"}).output, HasSubstr("0 locks held, 1 election led, 1 client waiting"));
  grant.release();
  next.join();
  EXPECT_TRUE(eventually([&] {
    const auto told = contents("follower.out");
    return told.starts_with("nobody\n" + line) && told.find("\nx (term") != std::string::npos;
  }));
  ::kill(follower, SIGTERM);
  EXPECT_EQ(finish(follower, "follower").status, 128 + SIGTERM);
}

TEST_F(ClusterCommands, AFileDeclaresSemaphores) {
  const auto file = (folder_.path() / "turno.toml").string();
  const auto semaphore = [&](Words words) {
    words.insert(words.begin(), {"semaphore", "--dir", directory()});
    return turno(words);
  };
  std::ofstream(file) << "[semaphores.\"build-*\"]\npermit = 2\n";
  const auto wrong = here({"up", "-n", "2", "--detach", "--config", file});
  EXPECT_EQ(wrong.status, 64);
  EXPECT_THAT(wrong.errors,
              HasSubstr(file + ":2:1: 'permit' is not known here; did you mean permits?"));
  std::ofstream(file) << "[semaphores.\"build-*\"]\npermits = 2\n";
  (void)parsed({"up", "-n", "2", "--detach", "--config", file});
  EXPECT_EQ(semaphore({"build-7", "--count", "2", "sh", "-c", "echo $TURNO_SLOTS"}).output,
            "0,1\n");
  const auto contradicts = semaphore({"build-7", "--permits", "3", "true"});
  EXPECT_EQ(contradicts.status, 125);
  EXPECT_THAT(contradicts.errors, HasSubstr("is declared to have 2 permits (semaphores.build-*, " +
                                            file + ":1:13), not 3"));
}

}  // namespace
}  // namespace turno

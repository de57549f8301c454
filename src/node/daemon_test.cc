// Several daemons: turns, views, crashes, and a registry in trouble.
#include "node/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "node/cluster_testing.h"
#include "registry/embedded/database.h"

namespace turno::node {

using namespace table;
using namespace port;
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using net::count_of;
using net::eventually;
using ::testing::HasSubstr;
using State = Waiter::State;

bool acquire(RunningServer& server, const std::string& lock, Asker& asker) {
  return server.locks().acquire(lock, asker) || eventually([&] { return asker.is_settled(); });
}
bool release(RunningServer& server, const std::string& lock, const Asker& asker) {
  return server.locks().release(lock, asker.self(), asker.fence);
}

// ---- turns

struct Turns {
  int before = 0;  // users of the first node that went before the one of the other
  bool in_order = true;
};

// Many users of one node, and one of another that comes after the first of them.
Turns compete(TestCluster& cluster, std::chrono::milliseconds hold) {
  std::deque<Asker> local(40);
  Asker remote;
  EXPECT_TRUE(acquire(cluster[0], "a", local[0]));
  for (std::size_t i = 1; i < local.size(); ++i) cluster[0].locks().acquire("a", local[i]);
  EXPECT_FALSE(cluster[1].locks().acquire("a", remote));
  // Its answer comes after its request, if not the other way round.
  (void)cluster[0].ask("a");
  (void)cluster[1].ask("a");
  Turns turns;
  Fence last;
  bool seen = false;
  const auto visit = [&](RunningServer& server, const Asker& asker) {
    EXPECT_TRUE(eventually([&] { return asker.is_settled() || &asker == &local[0]; }));
    turns.in_order &= asker.fence > last;
    last = asker.fence;
    std::this_thread::sleep_for(hold);
    EXPECT_TRUE(release(server, "a", asker));
  };
  for (const auto& asker : local) {
    if (!seen && &asker != &local[0]) {
      EXPECT_TRUE(eventually([&] { return asker.is_settled() || remote.is_settled(); }));
      if (remote.is_settled()) {
        seen = true;
        visit(cluster[1], remote);
      }
    }
    if (!seen) ++turns.before;
    visit(cluster[0], asker);
  }
  EXPECT_TRUE(seen);
  return turns;
}

TEST(Daemon, ANodeServesAtMostSixteenOfItsUsersWhileOthersWait) {
  TestCluster cluster(2, [](Settings& settings) { settings.longest_turn = 1h; });
  const auto turns = compete(cluster, 0ms);
  EXPECT_EQ(turns.before, 16);
  EXPECT_TRUE(turns.in_order);
}

TEST(Daemon, ATurnIsOverAfterItsTime) {
  TestCluster cluster(2, [](Settings& settings) { settings.longest_turn = 1ms; });
  const auto turns = compete(cluster, 10ms);
  EXPECT_EQ(turns.before, 1);
  EXPECT_TRUE(turns.in_order);
}

// ---- views

TEST(Daemon, RefusesWhatDoesNotFit) {
  TestCluster cluster(1, [](Settings& settings) {
    if (settings.name != "n1") settings.client_address = settings.client_socket = "";
  });
  auto settings = cluster.settings(2);
  const auto refusal = [&] {
    const auto daemon = Daemon::start(settings, {});
    return daemon ? "it works" : daemon.error();
  };
  settings.algorithm = "no-such";
  EXPECT_THAT(refusal(), HasSubstr("there is no lock algorithm 'no-such'"));
  settings.algorithm = "maekawa";
  EXPECT_THAT(refusal(), HasSubstr("nxr-bh"));
  settings = cluster.settings(1);  // the name is taken, and so is the path
  EXPECT_THAT(refusal(), HasSubstr("n1.sock: Address already in use"));
  settings.client_socket = "";
  EXPECT_THAT(refusal(), HasSubstr("n1"));
  settings = cluster.settings(2);
  settings.peer_address = "127.0.0.1:99999";
  EXPECT_THAT(refusal(), HasSubstr("a port is a number"));
  // Nobody was harmed.
  EXPECT_TRUE(net::connect_blocking(cluster[0].self().client_socket));
  EXPECT_EQ(cluster[0].members(), 1U);
}

TEST(Daemon, HoldersAndWaitersLiveThroughViews) {
  TestCluster cluster(2);
  Asker holder, waiter;
  ASSERT_TRUE(acquire(cluster[0], "a", holder));
  EXPECT_FALSE(cluster[1].locks().acquire("a", waiter));
  cluster.add();  // one comes
  cluster.settle();
  EXPECT_TRUE(cluster[0].locks().holds("a", holder.self()));
  cluster.crash(2);  // and goes
  cluster.settle();
  EXPECT_TRUE(cluster[0].locks().holds("a", holder.self()));
  EXPECT_FALSE(waiter.is_settled());
  EXPECT_TRUE(release(cluster[0], "a", holder));
  EXPECT_TRUE(eventually([&] { return waiter.is_settled(); }));
  EXPECT_EQ(waiter.state, State::granted);
  EXPECT_GT(waiter.fence, holder.fence);
  EXPECT_TRUE(release(cluster[1], "a", waiter));
}

TEST(Daemon, AWaitGoesOnWhileTheHolderOrTheHomeIsStopped) {
  TestCluster cluster(2);
  Asker holder, behind, waiter;
  const auto elsewhere = cluster.lock_at_home(1);
  const auto here = cluster.lock_at_home(0);
  ASSERT_TRUE(acquire(cluster[1], here, holder));
  {
    const Stopped stopped(cluster[1]);
    EXPECT_FALSE(cluster[0].locks().acquire(here, behind));
    EXPECT_FALSE(cluster[0].locks().acquire(elsewhere, waiter));
    std::this_thread::sleep_for(300ms);
    EXPECT_FALSE(behind.is_settled());
    EXPECT_FALSE(waiter.is_settled());
  }
  EXPECT_TRUE(eventually([&] { return waiter.is_settled(); })) << "it was free";
  EXPECT_FALSE(behind.is_settled());
  EXPECT_TRUE(release(cluster[1], here, holder));
  EXPECT_TRUE(eventually([&] { return behind.is_settled(); }));
  EXPECT_TRUE(release(cluster[0], here, behind));
  EXPECT_TRUE(release(cluster[0], elsewhere, waiter));
}

TEST(Daemon, WhatACrashedNodeHeldIsFreeAfterTheLockDelay) {
  TestCluster cluster(3, [](Settings& settings) { settings.lock_delay = 300ms; });
  Asker dead, waiter;
  ASSERT_TRUE(acquire(cluster[2], "a", dead));
  EXPECT_FALSE(cluster[0].locks().acquire("a", waiter));
  const auto crash = Clock::now();
  cluster.crash(2);
  EXPECT_TRUE(eventually([&] { return waiter.is_settled(); }));
  EXPECT_GE(Clock::now() - crash, 300ms);
  EXPECT_GT(waiter.fence, dead.fence);
  EXPECT_TRUE(release(cluster[0], "a", waiter));
}

// Who joins later than that has nothing to wait for.
TEST(Daemon, TheLockDelayCountsFromTheCrash) {
  TestCluster cluster(3, [](Settings& settings) { settings.lock_delay = 30s; });
  const auto delayed = [](RunningServer& server) {
    return server.run([&] { return server.daemon().delayed(); });
  };
  const auto crash_was_ago = [&](std::chrono::seconds time) {
    registry::Database database(cluster.directory() / "cluster" / "registry.db");
    database.wait_for_others(5s);
    const auto moment = cluster::Moment::now().ns - std::chrono::nanoseconds(time).count();
    EXPECT_TRUE(database.run(("UPDATE crash SET moment_ns = " + std::to_string(moment)).c_str()));
  };
  EXPECT_FALSE(delayed(cluster[2]));
  cluster.crash(1);
  cluster.settle();
  EXPECT_TRUE(delayed(cluster[0]));
  EXPECT_TRUE(delayed(cluster.add()));
  crash_was_ago(60s);
  EXPECT_FALSE(delayed(cluster.add()));
  EXPECT_TRUE(delayed(cluster[0]));  // it keeps to what it began
  crash_was_ago(28s);
  auto& last = cluster.add();
  EXPECT_TRUE(delayed(last));
  EXPECT_TRUE(eventually([&] { return !delayed(last); }));
}

TEST(Daemon, IdleLocksAreForgottenEverywhere) {
  TestCluster cluster(3, [](Settings& settings) { settings.idle = 30ms; });
  std::vector<Fence> fences;
  for (int i = 0; i < 60; ++i) {
    Asker asker;
    ASSERT_TRUE(acquire(cluster[static_cast<std::size_t>(i % 3)], std::to_string(i), asker));
    EXPECT_TRUE(release(cluster[static_cast<std::size_t>(i % 3)], std::to_string(i), asker));
    fences.push_back(asker.fence);
  }
  EXPECT_TRUE(eventually([&] {
    return cluster[0].locks().size() + cluster[1].locks().size() + cluster[2].locks().size() == 0;
  }));
  for (int i = 0; i < 60; ++i) {
    Asker asker;
    auto& server = cluster[static_cast<std::size_t>((i + 1) % 3)];
    ASSERT_TRUE(acquire(server, std::to_string(i), asker));
    EXPECT_GT(asker.fence, fences[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(release(server, std::to_string(i), asker));
  }
}

TEST(Daemon, EverybodyIsAskedWhoHoldsAndWhoWaits) {
  TestCluster cluster(3);
  Asker holder(71), waiter(72);
  ASSERT_TRUE(acquire(cluster[1], "a", holder));
  EXPECT_FALSE(cluster[2].locks().acquire("a", waiter));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto findings = cluster[i].ask("a");
    const auto& found = findings.found;
    EXPECT_TRUE(findings.complete());
    EXPECT_EQ(findings.waiting, 1U);
    ASSERT_EQ(found.size(), 2U);
    const auto first = found[0].sighting.is(Sighting::Kind::holds) ? 0U : 1U;
    EXPECT_EQ(found[first].node, "n2");
    EXPECT_EQ(found[first].sighting.session, 71U);
    EXPECT_EQ(found[1 - first].node, "n3");
    EXPECT_EQ(found[1 - first].sighting.session, 72U);
    EXPECT_TRUE(cluster[i].ask("nothing").found.empty());
  }
  EXPECT_TRUE(cluster[2].locks().withdraw("a", waiter));
  EXPECT_TRUE(release(cluster[1], "a", holder));
}

TEST(Daemon, WhoDoesNotAnswerIsNamedAndWhatItsLocksHomesKnowIsTold) {
  TestCluster cluster(3);
  const auto at_first = cluster.lock_at_home(0), at_second = cluster.lock_at_home(1);
  Asker first, second;
  ASSERT_TRUE(acquire(cluster[1], at_first, first));
  ASSERT_TRUE(acquire(cluster[1], at_second, second));
  // Its home is told when it has been held for a while.
  const auto noted = [&] {
    for (const auto& seen : cluster[0].locks().sightings(at_first, 10).list)
      if (seen.is(Sighting::Kind::noted)) return true;
    return false;
  };
  ASSERT_TRUE(net::eventually(noted));
  EXPECT_EQ(cluster[2].ask(at_first).found.size(), 1U) << "the holder speaks for itself";
  {
    const Stopped stopped(cluster[1]);
    const auto known = cluster[2].ask(at_first);
    ASSERT_EQ(known.silent.size(), 1U);
    EXPECT_EQ(known.silent[0].name, "n2");
    EXPECT_EQ(known.silent[0].pid, ::getpid());
    EXPECT_EQ(known.silent[0].state, cluster::ProcessState::running);
    ASSERT_EQ(known.found.size(), 1U);
    EXPECT_TRUE(known.found[0].sighting.is(Sighting::Kind::noted));
    EXPECT_EQ(known.found[0].node, "n2");
    EXPECT_EQ(known.found[0].sighting.client, "n1");
    // Only its holder knows of it: nothing was found, and that is not all.
    const auto unknown = cluster[2].ask(at_second);
    EXPECT_TRUE(unknown.found.empty());
    EXPECT_FALSE(unknown.complete());
  }
  EXPECT_TRUE(net::eventually([&] { return cluster[2].ask(at_second).complete(); }));
  EXPECT_TRUE(release(cluster[1], at_first, first));
  EXPECT_TRUE(release(cluster[1], at_second, second));
}

// What was asked in one view cannot be answered in the next one, and is asked again.
TEST(Daemon, AQuestionSurvivesAChangeOfTheView) {
  TestCluster cluster(2);
  bool complete = false;
  for (int i = 0; i < 5 && !complete; ++i) {
    std::promise<Findings> answer;
    {
      const Stopped stopped(cluster[1]);
      cluster[0].run([&] {
        cluster[0].daemon().ask("", [&](Findings findings) { answer.set_value(findings); });
      });
      cluster.add();
      const auto epoch = static_cast<std::uint32_t>(3 + i);
      EXPECT_TRUE(net::eventually([&] { return cluster[0].epoch() == epoch; }));
    }
    complete = answer.get_future().get().complete();  // on a slow machine it may be too late
  }
  EXPECT_TRUE(complete);
}

// ---- trouble

TEST(Daemon, GivesUpWhenTheRegistryVanishes) {
  net::LoggedLines lines;
  TestCluster cluster(1);
  Asker holder, waiter;
  ASSERT_TRUE(acquire(cluster[0], "a", holder));
  EXPECT_FALSE(cluster[0].locks().acquire("a", waiter));
  fs::remove_all(cluster.directory() / "cluster");
  const auto failure = cluster[0].wait();
  EXPECT_NE(failure, "");
  EXPECT_EQ(waiter.state, State::failed);
  EXPECT_THAT(lines.take(), HasSubstr("this node gives up: " + failure));
}

// A second cluster in the same file would grant the locks of the first one again.
TEST(Daemon, GivesUpWhenTheRegistryIsEmptiedInPlace) {
  const net::LoggedLines lines;
  TestCluster cluster(2);
  Asker holder;
  ASSERT_TRUE(acquire(cluster[0], "a", holder));
  std::ofstream(cluster.directory() / "cluster" / "registry.db", std::ios::trunc).close();
  EXPECT_THAT(cluster[0].wait(), HasSubstr("it was emptied while this node was a member"));
  EXPECT_THAT(cluster[1].wait(), HasSubstr("it was emptied while this node was a member"));
  cluster.add();
}

// A member that is in the view and sends what makes no sense.
TEST(Daemon, FramesThatMakeNoSenseAreLoggedAndDropped) {
  net::LoggedLines lines;
  TestCluster cluster(1);
  registry::EmbeddedRegistry registry(cluster.directory() / "cluster");
  auto rogue = registry::member_named("rogue");
  const auto view = registry.join(rogue, {.wire = wire::version});
  ASSERT_TRUE(view) << view.error().message;
  const auto socket = net::connect_blocking(cluster[0].self().peer_address);
  std::string bytes;
  net::write_hello(bytes, {.id = rogue.id, .key = view->key, .to = cluster[0].self().id});
  for (int kind = 0; kind < 256; ++kind)
    for (const auto epoch : {view->epoch - 1, view->epoch, view->epoch + 1})
      wire::write_frame(bytes, epoch, 1, static_cast<std::uint8_t>(kind),
                        [](wire::Writer& out) { out.raw("nonsense"); });
  ASSERT_TRUE(net::write_all(socket, bytes));
  const auto of_no_thing = [&] {
    return cluster[0].run([&] { return cluster[0].daemon().strange_frames(); });
  };
  EXPECT_TRUE(eventually(
      [&] { return cluster[0].locks().statistics().strange_frames > 10 && of_no_thing() > 100; }));
  EXPECT_TRUE(registry.leave());
  EXPECT_TRUE(eventually([&] { return cluster[0].members() == 1; }));
  Asker asker;
  EXPECT_TRUE(acquire(cluster[0], "a", asker));
  EXPECT_TRUE(release(cluster[0], "a", asker));
  const auto text = lines.take();
  EXPECT_THAT(text, HasSubstr("rogue sent a frame of kind 0 that makes no sense; it was dropped"));
  EXPECT_EQ(count_of(text, "that makes no sense"), 10U);
}

// Frames of views that will never be take a bounded room, and nobody waits for them.
TEST(Daemon, FramesOfTheFarFutureAreNotKept) {
  const net::LoggedLines lines;
  TestCluster cluster(2);
  const auto view = cluster[0].run([&] { return cluster[0].daemon().view(); });
  const auto refused = [&] {
    return cluster[0].run([&] { return cluster[0].daemon().peers().refused(); });
  };
  for (const auto ahead : {1U, 16'000'000U}) {
    const auto before = refused();
    const auto socket = net::connect_blocking(cluster[0].self().peer_address);
    std::string bytes;
    net::write_hello(bytes, {.id = 4711, .key = view.key, .to = cluster[0].self().id});
    ASSERT_TRUE(net::write_all(socket, bytes));
    std::string frame;
    wire::write_frame(frame, view.epoch + ahead, 1, 3,
                      [](wire::Writer& out) { out.raw(std::string(1000, 'x')); });
    for (int i = 0; i < 1000 && net::write_all(socket, frame);) ++i;
    EXPECT_TRUE(eventually([&] { return refused() > before; }));
  }
  Asker asker;
  EXPECT_TRUE(acquire(cluster[1], cluster.lock_at_home(0), asker));
  EXPECT_EQ(cluster[0].epoch(), view.epoch);
}

// One who errs in the name of another costs a view, not the other's link.
TEST(Daemon, FramesInTheNameOfAMemberCostOneView) {
  const net::LoggedLines lines;
  TestCluster cluster(2);
  const auto view = cluster[0].run([&] { return cluster[0].daemon().view(); });
  const auto lock = cluster.lock_at_home(0);
  const auto socket = net::connect_blocking(cluster[0].self().peer_address);
  std::string bytes;
  net::write_hello(bytes, {.id = cluster[1].self().id,
                           .key = view.key,
                           .to = cluster[0].self().id,
                           .generation = std::uint64_t{1} << 62});
  for (int i = 0; i < 50; ++i) wire::write_frame(bytes, view.epoch, 1, 99, [](wire::Writer&) {});
  ASSERT_TRUE(net::write_all(socket, bytes));
  EXPECT_TRUE(eventually([&] { return cluster[1].epoch() == view.epoch + 1; }));
  cluster.settle();
  Asker asker;
  EXPECT_TRUE(acquire(cluster[1], lock, asker));
  EXPECT_TRUE(release(cluster[1], lock, asker));
  EXPECT_EQ(cluster[1].epoch(), view.epoch + 1);
}

// A small disk that ends with this process. False where that is not allowed.
bool mount_small_disk(const fs::path& place) {
  static const bool allowed = ::unshare(CLONE_NEWNS) == 0 &&
                              ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  fs::create_directories(place);
  return allowed && ::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=256k") == 0;
}

TEST(Daemon, LocksGoOnWhenTheDiskIsFull) {
  registry::TemporaryDirectory directory;
  const auto disk = directory.path() / "disk";
  if (!mount_small_disk(disk)) GTEST_SKIP() << "mounting a small disk needs root";
  {
    TestCluster cluster(3, [&](Settings& settings) {
      settings.directory = disk / "cluster";
      settings.client_socket = "";
    });
    Asker survivor;
    const auto lock = cluster.lock_at_home(0);
    ASSERT_TRUE(acquire(cluster[0], lock, survivor));
    EXPECT_TRUE(release(cluster[0], lock, survivor));
    net::LoggedLines lines;
    {
      std::ofstream filler(disk / "filler", std::ios::binary);
      while (filler.write("x", 1).flush()) continue;
    }
    EXPECT_THAT(Daemon::start(cluster.settings(4), {}).error(), HasSubstr("full"));
    cluster.crash(2);  // the view cannot be changed now
    for (int i = 0; i < 50; ++i) {
      for (std::size_t n = 0; n < 2; ++n) {
        Asker asker;
        ASSERT_TRUE(acquire(cluster[n], lock, asker));
        EXPECT_TRUE(release(cluster[n], lock, asker));
      }
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(cluster[0].members(), 3U);
    EXPECT_THAT(cluster[0].daemon().registry_trouble(), HasSubstr("disk is full"));
    fs::remove(disk / "filler");
    cluster.settle();
    EXPECT_EQ(cluster[0].daemon().registry_trouble(), "");
    EXPECT_EQ(cluster[0].members(), 2U);
    const auto text = lines.take();
    EXPECT_LE(count_of(text, "database or disk is full; the members stay as they are"), 2U) << text;
    EXPECT_GE(count_of(text, "database or disk is full; the members stay as they are"), 1U) << text;
    EXPECT_THAT(text, HasSubstr("the registry works again"));
  }
  ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace turno::node

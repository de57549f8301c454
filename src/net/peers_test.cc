// Frames arrive in order and exactly once, whatever the network does.
#include "net/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "net/peers_testing.h"

namespace turno::net {
namespace {

using namespace std::chrono_literals;

// Bytes that follow from a number.
std::string body_of(std::uint64_t number) {
  std::mt19937_64 random(number);
  std::string body(random() % 200, '\0');
  for (auto& byte : body) byte = static_cast<char>(random());
  return body;
}

// Sends until the network has done its worst. How many.
std::uint64_t send_through(Link& link, const Proxy& proxy) {
  std::uint64_t count = 0;
  while (proxy.cuts_left() > 0) {
    if (link.backlog() < 200) {
      send(link, count, body_of(count));
      ++count;
    } else {
      std::this_thread::sleep_for(1ms);
    }
  }
  return count;
}

testing::AssertionResult has_exactly(const Station& station, std::uint64_t from,
                                     std::uint64_t count) {
  const auto arrivals = station.arrivals();
  for (std::uint64_t i = 0; i < arrivals.size(); ++i)
    if (const Station::Arrival wanted{from, i, body_of(i)}; arrivals[i] != wanted)
      return testing::AssertionFailure() << "frame " << arrivals[i].lock << " came as " << i;
  if (arrivals.size() == count) return testing::AssertionSuccess();
  return testing::AssertionFailure() << arrivals.size() << " of " << count << " arrived";
}

TEST(Peers, FramesArriveInOrder) {
  Station a(1), b(2);
  const auto link = a.meet(2, b.address());
  for (std::uint64_t i = 0; i < 1000; ++i) send(*link, i, body_of(i));
  ASSERT_TRUE(eventually([&] { return b.arrived() >= 1000; }));
  EXPECT_TRUE(has_exactly(b, 1, 1000));
  EXPECT_TRUE(link->up());
  EXPECT_EQ(link->reconnections(), 0U);
}

TEST(Peers, FramesSentFromTheLoopGoOutTogether) {
  Station a(1), b(2);
  const auto link = a.meet(2, b.address());
  a.thread().run([&] {
    for (std::uint64_t i = 0; i < 1000; ++i) send(*link, i, body_of(i));
  });
  ASSERT_TRUE(eventually([&] { return b.arrived() >= 1000; }));
  EXPECT_TRUE(has_exactly(b, 1, 1000));
}

TEST(Peers, TwoOnOneLoop) {
  LoopThread thread;
  std::vector<std::uint64_t> arrived[2];
  std::unique_ptr<Peers> peers[2];
  thread.run([&] {
    for (std::uint64_t i = 0; i < 2; ++i) {
      peers[i] = std::move(*Peers::listen(thread.loop(), "127.0.0.1:0",
                                          {.frame =
                                               [&arrived, i](std::uint64_t, const wire::Frame& f) {
                                                 arrived[i].push_back(f.lock);
                                                 return true;
                                               },
                                           .trouble = [](std::uint64_t) {},
                                           .gap = [](std::uint64_t, std::uint32_t) {}}));
      peers[i]->introduce({.id = i + 1, .key = cluster_key});
    }
    for (std::uint64_t i = 0; i < 2; ++i) {
      peers[i]->set({{2 - i, "the other", peers[1 - i]->address()}});
      for (std::uint64_t n = 0; n < 100; ++n) send(*peers[i]->link(2 - i), n);
    }
  });
  for (auto& each : arrived)
    EXPECT_TRUE(eventually([&] { return thread.run([&] { return each.size(); }) == 100; }));
  thread.stop();
  for (auto& each : arrived) EXPECT_TRUE(std::is_sorted(each.begin(), each.end()));
  for (auto& each : peers) each.reset();
}

TEST(Peers, FramesSurviveCutConnectionsBothWays) {
  Station a(1), b(2);
  Proxy forth(b.address(), 120, 1), back(a.address(), 120, 2);
  const auto to_b = a.meet(2, forth.address());
  const auto to_a = b.meet(1, back.address());
  std::uint64_t sent_back = 0;
  std::thread other([&] { sent_back = send_through(*to_a, back); });
  const auto sent = send_through(*to_b, forth);
  other.join();
  EXPECT_TRUE(eventually([&] { return b.arrived() >= sent && a.arrived() >= sent_back; }));
  EXPECT_TRUE(has_exactly(b, 1, sent));
  EXPECT_TRUE(has_exactly(a, 2, sent_back));
  EXPECT_GE(to_b->reconnections(), 120U);
  EXPECT_GT(a.troubles(), 0);
  EXPECT_GT(b.troubles(), 0);
  EXPECT_EQ(a.refused() + b.refused(), 0U);
}

// Each thread's frames arrive in its order, also while the connection is cut.
TEST(Peers, SendFromSeveralThreads) {
  Station a(1), b(2);
  Proxy proxy(b.address(), 30, 3);
  const auto link = a.meet(2, proxy.address());
  constexpr std::uint64_t threads = 4, each = 2000;
  std::vector<std::thread> senders;
  for (std::uint64_t t = 0; t < threads; ++t)
    senders.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < each; ++i) {
        const auto one = [&] { send(*link, t << 32 | i, body_of(i)); };
        // One of them is the loop itself.
        t == 0 ? a.thread().run(one) : one();
      }
    });
  for (auto& sender : senders) sender.join();
  ASSERT_TRUE(eventually([&] { return b.arrived() >= threads * each; }));
  std::map<std::uint64_t, std::uint64_t> next;
  for (const auto& arrival : b.arrivals()) {
    const auto number = next[arrival.lock >> 32]++;
    ASSERT_EQ(arrival.lock & 0xffffffff, number);
    ASSERT_EQ(arrival.body, body_of(number));
  }
  EXPECT_EQ(b.arrived(), threads * each);
}

TEST(Peers, APeerThatIsDownAtFirst) {
  std::string address;
  {
    const auto listener = listen("127.0.0.1:0");
    ASSERT_TRUE(listener);
    address = address_of(*listener);
  }
  Station a(1);
  const auto link = a.meet(2, address);
  for (std::uint64_t i = 0; i < 10; ++i) send(*link, i, body_of(i));
  ASSERT_TRUE(eventually([&] { return link->reconnections() > 2; }));
  EXPECT_FALSE(link->up());
  EXPECT_EQ(link->backlog(), 10U);
  EXPECT_TRUE(eventually([&] { return a.troubles() > 2; }));
  const Station b(2, address);
  ASSERT_TRUE(eventually([&] { return b.arrived() >= 10; }));
  EXPECT_TRUE(has_exactly(b, 1, 10));
  EXPECT_TRUE(eventually([&] { return link->up(); }));
}

TEST(Peers, AcknowledgementsTrimTheBacklog) {
  Station a(1), b(2);
  const auto link = a.meet(2, b.address());
  std::size_t highest = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    send(*link, i, std::string(500, 'x'));
    highest = std::max(highest, link->backlog());
  }
  // While it is busy the receiver acknowledges by bytes, at the end by time.
  EXPECT_TRUE(eventually([&] { return link->backlog() == 0; }));
  EXPECT_GT(highest, 0U);
  EXPECT_EQ(b.arrived(), 20'000U);
}

TEST(Peers, SpacingLetsFramesArriveOneByOne) {
  constexpr auto latency = 20ms, spacing = 10ms;
  Station a(1), b(2);
  const auto link = a.meet(2, b.address(), latency, spacing);
  const auto begin = Loop::Clock::now();
  for (std::uint64_t i = 0; i < 10; ++i) send(*link, i, body_of(i));
  ASSERT_TRUE(eventually([&] { return b.arrived() >= 10; }));
  EXPECT_TRUE(has_exactly(b, 1, 10));
  const auto arrivals = b.arrivals();
  for (int i = 0; i < 10; ++i)
    EXPECT_GE(arrivals[static_cast<std::size_t>(i)].at - begin, latency + i * spacing) << i;
}

TEST(Peers, LatencyHoldsFramesBackAndKeepsTheirOrder) {
  constexpr auto latency = 40ms;
  Station a(1), b(2);
  Proxy proxy(b.address(), 3, 4);
  const auto link = a.meet(2, proxy.address(), latency);
  std::vector<Loop::Clock::time_point> sent;
  for (std::uint64_t i = 0; i < 300; ++i) {
    sent.push_back(Loop::Clock::now());
    send(*link, i, body_of(i));
    if (i % 10 == 0) std::this_thread::sleep_for(1ms);
  }
  ASSERT_TRUE(eventually([&] { return b.arrived() >= sent.size(); }));
  EXPECT_TRUE(has_exactly(b, 1, sent.size()));
  const auto arrivals = b.arrivals();
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_GE(arrivals[i].at - sent[i], latency) << i;
  // And it ends: one more frame comes too.
  send(*link, 300, body_of(300));
  EXPECT_TRUE(eventually([&] { return b.arrived() == 301; }));
  EXPECT_TRUE(eventually([&] { return link->backlog() == 0; }));
}

TEST(Peers, AFrameThatIsNotTakenComesAgain) {
  Station a(1), b(2);
  const LoggedLines lines;
  b.do_not_take(40);
  const auto link = a.meet(2, b.address());
  for (std::uint64_t i = 0; i < 1000; ++i) send(*link, i, body_of(i));
  ASSERT_TRUE(eventually([&] { return b.arrived() >= 1000; }));
  EXPECT_TRUE(has_exactly(b, 1, 1000));
  EXPECT_GE(b.refused(), 20U);
  EXPECT_EQ(a.gaps(), 0);
}

// A peer that is stopped for long: it has missed something, but never hears what is behind it.
TEST(Peers, APeerThatIsStoppedForLong) {
  Station a(1, "127.0.0.1:0", {.time_to_greet = patience, .most_backlog = 1'000'000}), b(2);
  const LoggedLines lines;
  const auto link = a.meet(2, b.address());
  std::promise<void> go_on;
  b.thread().loop().post([&] { go_on.get_future().wait(); });
  std::uint64_t count = 0;
  for (const std::string body(10'000, 'x'); link->gaps() == 0; ++count) send(*link, count, body);
  for (int i = 0; i < 100; ++i) send(*link, count + 1'000'000);
  EXPECT_EQ(a.gaps(), 0);
  EXPECT_LE(link->backlog_bytes(), 1'000'000U);
  go_on.set_value();
  ASSERT_TRUE(eventually([&] { return a.gaps() == 1; }));
  EXPECT_EQ(a.lost_epoch(), 1U);
  for (std::uint64_t i = 0; i < 100; ++i) send(*link, i, "new", 2);
  std::vector<Station::Arrival> arrivals;
  ASSERT_TRUE(eventually([&] {
    arrivals = b.arrivals();
    return arrivals.size() >= 100 && arrivals.back().body == "new" && arrivals.back().lock == 99;
  }));
  const auto old = arrivals.size() - 100;
  EXPECT_LT(old, count);
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    EXPECT_EQ(arrivals[i].lock, i < old ? i : i - old) << i;
  EXPECT_EQ(a.gaps(), 1);
}

// With nothing to say: silence must not need traffic to be noticed.
TEST(Peers, APeerThatSaysNothingIsNoticed) {
  const Peers::Options often{.ping_every = 10ms};
  Station a(1, "127.0.0.1:0", often), b(2, "127.0.0.1:0", often);
  const auto link = a.meet(2, b.address());
  const auto quiet = [&] { return a.thread().run([&] { return link->quiet_for(); }); };
  ASSERT_TRUE(eventually([&] { return link->up(); }));
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(100ms);
    EXPECT_LT(quiet(), 2s);
  }
  std::promise<void> go_on;
  b.thread().loop().post([go = go_on.get_future().share()] { go.wait(); });
  EXPECT_TRUE(eventually([&] { return quiet() > 500ms; }));
  EXPECT_TRUE(link->up());
  EXPECT_EQ(link->backlog(), 1U) << "one ping is enough";
  go_on.set_value();
  EXPECT_TRUE(eventually([&] { return quiet() < 400ms; }));
  EXPECT_EQ(b.arrived(), 0U) << "pings are the links' own";
  send(*link, 7);
  EXPECT_TRUE(eventually([&] { return b.arrived() == 1; }));
}

TEST(Peers, LinksToThoseWhoLeftAreClosed) {
  Station a(1), b(2);
  auto link = a.meet(2, b.address());
  send(*link, 0);
  ASSERT_TRUE(eventually([&] { return b.arrived() == 1; }));
  a.part();
  a.thread().run([&] {
    EXPECT_EQ(a.peers().link(2), nullptr);
    send(*link, 1);  // harms nobody
    link.reset();
  });
  EXPECT_TRUE(eventually([&] { return b.troubles() > 0; }));
}

TEST(Peers, AnyThreadMayLetGoOfALinkLast) {
  Station b(2);
  for (int i = 0; i < 20; ++i) {
    Station a(1);
    const auto troubles = b.troubles();
    auto link = a.meet(2, b.address());
    ASSERT_TRUE(eventually([&] { return link->up(); }));
    a.part();
    if (link->append(1, 0, 3, [](wire::Writer&) {})) link->flush();
    link.reset();
    EXPECT_TRUE(eventually([&] { return b.troubles() > troubles; }));
  }
}

// Who leaves a view and is met again under a new number starts from the beginning.
TEST(Peers, ANewNumberIsANewPeer) {
  Station a(1);
  for (std::uint64_t id = 2; id < 5; ++id) {
    Station b(id);
    const auto link = a.meet(id, b.address());
    b.meet(1, a.address());
    for (std::uint64_t i = 0; i < 5; ++i) send(*link, i, body_of(i));
    EXPECT_TRUE(eventually([&] { return b.arrived() >= 5; }));
    EXPECT_TRUE(has_exactly(b, 1, 5));
  }
}

}  // namespace
}  // namespace turno::net

// Whatever comes to the port for peers: it is refused and logged, and others do not notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "net/peers_testing.h"

namespace turno::net {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string frame(std::uint8_t kind, const std::string& body) {
  std::string bytes;
  wire::write_frame(bytes, 0, 0, kind, [&](wire::Writer& out) { out.raw(body); });
  return bytes;
}

std::string hello(std::uint64_t id, std::uint64_t key, std::uint64_t to = 1,
                  std::uint64_t generation = 5) {
  std::string bytes;
  write_hello(bytes, {.id = id, .key = key, .to = to, .generation = generation});
  return bytes;
}

struct Garbage {
  std::string what, bytes, reason;
};

std::vector<Garbage> all_garbage() {
  std::vector<Garbage> all = {
      {"an HTTP request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "bytes; the most is"},
      {"a Redis command", "*1\r\n$4\r\nPING\r\n", "bytes; the most is"},
      {"a TLS greeting", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), ""},
      {"four gibibytes", "\xff\xff\xff\xff", "a frame of 4294967295 bytes; the most is 60"},
      {"one byte too much", std::string("\x3d\x00\x00\x00", 4),
       "a frame of 61 bytes; the most is 60"},
      {"an empty frame", std::string(4, '\0'), "an empty frame"},
      {"another version", std::string("\x04\x00\x00\x00\x01\x00\x00\x00", 8),
       "a frame of version 1; this is version " + std::to_string(wire::version)},
      {"half a header",
       std::string("\x02\x00\x00\x00", 4) + static_cast<char>(wire::version) + "\x80",
       "malformed header"},
      {"a wrong key", hello(7, cluster_key + 1), "it does not belong to this cluster"},
      {"no key", hello(7, 0), "it does not belong to this cluster"},
      {"no number", hello(0, cluster_key), "it does not belong to this cluster"},
      {"the node's own number", hello(1, cluster_key), "it does not belong to this cluster"},
      {"a wrong addressee", hello(7, cluster_key, 2), "it looks for another node"},
      {"no hello", frame(3, "body"), "it did not begin with a hello"},
      {"a hello without a body", frame(0, ""), "it did not begin with a hello"},
      {"a hello of others", frame(0, std::string("\x05other\x01\x01", 8)),
       "it did not begin with a hello"},
      {"a hello that is cut short", frame(0, "\x05turno"), "it did not begin with a hello"},
      {"garbage after a hello", hello(7, cluster_key) + std::string(8, '\xff'),
       "bytes; the most is 1048576"},
  };
  return all;
}

// Until the station hangs up.
void send_and_wait(const Station& station, const std::string& bytes) {
  const auto socket = connect_blocking(station.address());
  ASSERT_TRUE(socket);
  (void)write_all(socket, bytes);
  (void)read_to_end(socket);  // a welcome or nothing; ends with the connection
}

TEST(PeersGarbage, IsRefusedLoggedAndHarmsNobody) {
  for (const auto& garbage : all_garbage()) {
    SCOPED_TRACE(garbage.what);
    Station a(1), b(2);
    const auto link = b.meet(1, a.address());
    std::uint64_t honest = 0;
    LoggedLines lines;
    send(*link, honest++);
    send_and_wait(a, garbage.bytes);
    EXPECT_EQ(a.refused(), 1U);
    EXPECT_THAT(lines.take(),
                AllOf(HasSubstr("warning"), HasSubstr("refused a peer connection from 127.0.0.1:"),
                      HasSubstr(garbage.reason)));
    send(*link, honest++);
    EXPECT_TRUE(eventually([&] { return a.arrived() == honest; }));
    EXPECT_EQ(link->reconnections(), 0U);
    EXPECT_EQ(a.troubles(), garbage.what == "garbage after a hello" ? 1 : 0);
  }
}

// Anybody can knock as often as it likes.
TEST(PeersGarbage, IsLoggedAFewTimesAndCountedAlways) {
  Station a(1);
  LoggedLines lines;
  for (int i = 0; i < 50; ++i) send_and_wait(a, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(a.refused(), 50U);
  EXPECT_EQ(count_of(lines.take(), "refused a peer connection"), 10U);
}

// Before the rest of it is waited for or kept.
TEST(PeersGarbage, IsRefusedAtItsFirstBytes) {
  Station a(1);
  LoggedLines lines;
  const auto socket = connect_blocking(a.address());
  ASSERT_TRUE(write_all(socket, std::string("\x00\x00\x08\x00", 4)));  // half a mebibyte follows
  EXPECT_EQ(read_to_end(socket), "");
  EXPECT_EQ(a.refused(), 1U);
  EXPECT_THAT(lines.take(), HasSubstr("a frame of 524288 bytes; the most is 60"));
}

// Of those who do not say hello so many may wait; who says it is let in all the same.
TEST(PeersGarbage, StrangersMakeRoomForEachOther) {
  Station a(1, "127.0.0.1:0", {.time_to_greet = patience, .most_strangers = 8});
  const LoggedLines lines;
  std::vector<Fd> strangers;
  for (int i = 0; i < 20; ++i) strangers.push_back(connect_blocking(a.address()));
  EXPECT_TRUE(eventually([&] { return a.refused() == 12; }));
  EXPECT_EQ(read_to_end(strangers.front()), "");
  Station b(2);
  const auto link = b.meet(1, a.address());
  send(*link, 0);
  EXPECT_TRUE(eventually([&] { return a.arrived() == 1; }));
  // It is no stranger any more, and stays.
  for (int i = 0; i < 20; ++i) strangers.push_back(connect_blocking(a.address()));
  EXPECT_TRUE(eventually([&] { return a.refused() == 32; }));
  send(*link, 1);
  EXPECT_TRUE(eventually([&] { return a.arrived() == 2; }));
  EXPECT_EQ(link->reconnections(), 0U);
}

TEST(PeersGarbage, RandomBytes) {
  std::mt19937 random(5);
  Station a(1), b(2);
  const auto link = b.meet(1, a.address());
  const LoggedLines lines;
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto bytes = i % 2 == 0 ? std::string() : hello(7, cluster_key);
    const auto size = random() % 300;
    for (std::size_t n = 0; n < size; ++n) bytes += static_cast<char>(random());
    const auto socket = connect_blocking(a.address());
    ASSERT_TRUE(socket);
    (void)write_all(socket, bytes);
    send(*link, i);
  }
  EXPECT_TRUE(eventually([&] { return a.arrived() >= 50; }));
  EXPECT_EQ(link->reconnections(), 0U);
}

// What a peer sends byte by byte is understood all the same.
TEST(PeersGarbage, IsNotWhatComesInSmallPieces) {
  Station a(1);
  const auto socket = connect_blocking(a.address());
  ASSERT_TRUE(socket);
  for (const char byte : hello(7, cluster_key) + frame(3, "body"))
    ASSERT_TRUE(write_all(socket, {&byte, 1}));
  ASSERT_TRUE(eventually([&] { return a.arrived() == 1; }));
  EXPECT_EQ(a.arrivals()[0].body, "body");
  EXPECT_EQ(a.refused(), 0U);
}

TEST(PeersGarbage, SilenceAndHalfAHello) {
  Station a(1, "127.0.0.1:0", {.time_to_greet = 50ms});
  LoggedLines lines;
  send_and_wait(a, "");
  send_and_wait(a, hello(7, cluster_key).substr(0, 9));
  EXPECT_EQ(a.refused(), 2U);
  EXPECT_EQ(count_of(lines.take(), "it did not say hello"), 2U);
  // Who has said hello may be silent.
  const auto socket = connect_blocking(a.address());
  ASSERT_TRUE(write_all(socket, hello(7, cluster_key)));
  std::this_thread::sleep_for(100ms);
  ASSERT_TRUE(write_all(socket, frame(3, "body")));
  EXPECT_TRUE(eventually([&] { return a.arrived() == 1; }));
}

TEST(PeersGarbage, WhoHangsUpAtOnceLeavesNothing) {
  Station a(1);
  for (int i = 0; i < 100; ++i) {
    auto socket = connect_blocking(a.address());
    ASSERT_TRUE(socket);
    if (i % 2 == 0) reset(socket);
  }
  Station b(2);
  send(*b.meet(1, a.address()), 0);
  EXPECT_TRUE(eventually([&] { return a.arrived() == 1; }));
  EXPECT_EQ(a.refused(), 0U);
}

TEST(PeersGarbage, NobodyIsLetInBeforeTheNodeKnowsItsCluster) {
  LoopThread thread;
  std::unique_ptr<Peers> peers;
  thread.run([&] {
    peers = std::move(*Peers::listen(thread.loop(), "127.0.0.1:0",
                                     {.frame =
                                          [](std::uint64_t, const wire::Frame&) {
                                            ADD_FAILURE();
                                            return true;
                                          },
                                      .trouble = [](std::uint64_t) {},
                                      .gap = [](std::uint64_t, std::uint32_t) {}}));
  });
  const LoggedLines lines;
  const auto socket = connect_blocking(peers->address());
  ASSERT_TRUE(write_all(socket, hello(7, 0) + frame(3, "body")));
  EXPECT_EQ(read_to_end(socket), "");
  thread.stop();
  EXPECT_EQ(peers->refused(), 1U);
}

// A peer that dials again has given up its former connection.
TEST(PeersGarbage, ASecondConnectionOfAPeerReplacesTheFirst) {
  Station a(1);
  const auto first = connect_blocking(a.address());
  ASSERT_TRUE(write_all(first, hello(7, cluster_key) + frame(3, "one")));
  ASSERT_TRUE(eventually([&] { return a.arrived() == 1; }));
  const auto second = connect_blocking(a.address());
  ASSERT_TRUE(write_all(second, hello(7, cluster_key)));
  (void)read_to_end(first);
  // Told how many frames have come.
  wire::FrameReader reader;
  reader.feed(read_some(second));
  ASSERT_EQ(reader.next(), wire::Status::ready);
  EXPECT_EQ(reader.frame().kind, static_cast<std::uint8_t>(LinkKind::welcome));
  EXPECT_EQ(read_count(reader.frame())->received, 1U);
}

// What a peer is told when it says hello.
std::optional<Count> greet(const Station& station, std::uint64_t generation) {
  const auto socket = connect_blocking(station.address());
  if (!write_all(socket, hello(7, cluster_key, 1, generation) + frame(3, "body"))) return {};
  wire::FrameReader reader;
  reader.feed(read_some(socket));
  if (reader.next() != wire::Status::ready) return {};
  return read_count(reader.frame());
}

TEST(PeersGarbage, ANewerGenerationIsCountedFromTheBeginningAndAnOlderOneRefused) {
  Station a(1);
  const LoggedLines lines;
  EXPECT_EQ(greet(a, 5)->received, 0U);
  ASSERT_TRUE(eventually([&] { return a.arrived() == 1; }));
  EXPECT_EQ(greet(a, 5)->received, 1U);
  ASSERT_TRUE(eventually([&] { return a.arrived() == 2; }));
  EXPECT_EQ(greet(a, 6)->received, 0U);
  ASSERT_TRUE(eventually([&] { return a.arrived() == 3; }));
  // Which tells it what to exceed.
  const auto told = greet(a, 5);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->generation, 6U);
  EXPECT_TRUE(eventually([&] { return a.refused() == 1; }));
  EXPECT_EQ(a.arrived(), 3U);
}

// One who has the key and errs: frames in the name of node 2, which has a link of its own.
TEST(PeersGarbage, FramesInAnothersNameCostOneGap) {
  for (const auto generation : {~std::uint64_t{0} >> 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 5}) {
    Station a(1), b(2);
    LoggedLines lines;
    const auto link = b.meet(1, a.address());
    for (std::uint64_t i = 0; i < 3; ++i) send(*link, i);
    ASSERT_TRUE(eventually([&] { return a.arrived() == 3; }));
    {
      const auto socket = connect_blocking(a.address());
      std::string bytes = hello(2, cluster_key, 1, generation);
      for (int i = 0; i < 50; ++i) bytes += frame(3, "false");
      ASSERT_TRUE(write_all(socket, bytes));
      // Until it is told that it has been superseded, or has been refused.
      (void)read_to_end(socket);
    }
    send(*link, 3, "", 2);
    EXPECT_TRUE(eventually([&] { return link->up() && a.arrivals().back().lock == 3; }));
    const auto once = older(generation, 1) ? 0 : 1;
    EXPECT_EQ(b.gaps(), once);
    EXPECT_EQ(link->gaps(), static_cast<std::uint64_t>(once));
    EXPECT_EQ(count_of(lines.take(), "the link to node 1 loses frames and starts anew"),
              static_cast<std::size_t>(once));
  }
}

}  // namespace
}  // namespace turno::net

// A link against a peer that the test plays: every byte that it sends, and every strange answer.
#include "net/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "net/testing.h"

namespace turno::net {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Identity self{.id = 1, .key = 4711};

std::string answer(std::uint8_t kind, std::uint64_t count) {
  std::string bytes;
  wire::write_frame(bytes, 0, 0, kind, [&](wire::Writer& body) { body.varint(count); });
  return bytes;
}
std::string welcome(std::uint64_t count) {
  return answer(static_cast<std::uint8_t>(LinkKind::welcome), count);
}
std::string acknowledge(std::uint64_t count) {
  return answer(static_cast<std::uint8_t>(LinkKind::acknowledge), count);
}

class LinkTest : public testing::Test {
 protected:
  LinkTest() {
    auto listener = listen("127.0.0.1:0");
    if (!listener) throw std::runtime_error(listener.error());
    listener_ = std::move(*listener);
  }
  ~LinkTest() override {
    thread_.stop();
    link_.reset();
  }

  void dial(Loop::Clock::duration latency = {}) {
    thread_.run([&] {
      link_ = std::make_unique<Link>(thread_.loop(), self, address_of(listener_), latency,
                                     [this](const std::string& reason) {
                                       const std::scoped_lock guard(mutex_);
                                       reasons_.push_back(reason);
                                     });
    });
  }
  void send(std::uint64_t first, std::uint64_t last, std::size_t size = 10) {
    for (auto i = first; i <= last; ++i)
      link_->send(1, i, 3, [&](wire::Writer& body) { body.raw(std::string(size, 'x')); });
  }

  // The peer's end of the next connection, after its hello.
  Fd take() {
    auto socket = accept_blocking(listener_);
    EXPECT_TRUE(socket);
    reader_ = {};
    EXPECT_EQ(next(socket), wire::Status::ready);
    const auto hello = read_hello(reader_.frame());
    EXPECT_TRUE(hello && hello->id == self.id && hello->key == self.key);
    return socket;
  }
  wire::Status next(const Fd& socket) {
    for (;;) {
      const auto status = reader_.next();
      if (status != wire::Status::more) return status;
      const auto bytes = read_some(socket);
      if (bytes.empty()) return status;
      reader_.feed(bytes);
    }
  }
  std::vector<std::uint64_t> read_frames(const Fd& socket, std::size_t count) {
    std::vector<std::uint64_t> numbers;
    while (numbers.size() < count && next(socket) == wire::Status::ready)
      numbers.push_back(reader_.frame().lock);
    return numbers;
  }
  std::string last_reason() {
    const std::scoped_lock guard(mutex_);
    return reasons_.empty() ? "" : reasons_.back();
  }

  Fd listener_;
  wire::FrameReader reader_;
  std::mutex mutex_;
  std::vector<std::string> reasons_;
  LoopThread thread_;
  std::unique_ptr<Link> link_;
};

TEST_F(LinkTest, SaysNothingMoreBeforeItIsWelcome) {
  dial();
  send(0, 4);
  const auto socket = take();
  EXPECT_FALSE(wait_for(socket, POLLIN, 30ms));
  EXPECT_FALSE(link_->up());
  write_all(socket, welcome(0));
  EXPECT_THAT(read_frames(socket, 5), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(link_->up());
}

TEST_F(LinkTest, SendsAgainWhatThePeerDoesNotHave) {
  dial();
  send(0, 4);
  {
    const auto socket = take();
    write_all(socket, welcome(0));
    EXPECT_THAT(read_frames(socket, 5), ElementsAre(0, 1, 2, 3, 4));
    write_all(socket, acknowledge(2));
    EXPECT_TRUE(eventually([&] { return link_->backlog() == 3; }));
  }
  {
    const auto socket = take();
    EXPECT_EQ(last_reason(), "it closed the connection");
    send(5, 6);
    write_all(socket, welcome(3));
    EXPECT_THAT(read_frames(socket, 4), ElementsAre(3, 4, 5, 6));
    EXPECT_EQ(link_->backlog(), 4U);
  }
  const auto socket = take();
  write_all(socket, welcome(7));
  EXPECT_TRUE(eventually([&] { return link_->backlog() == 0; }));
  send(7, 7);
  EXPECT_THAT(read_frames(socket, 1), ElementsAre(7));
  EXPECT_EQ(link_->reconnections(), 2U);
}

TEST_F(LinkTest, KeepsWhatAPeerDoesNotRead) {
  dial();
  const auto socket = take();
  write_all(socket, welcome(0));
  EXPECT_TRUE(eventually([&] { return link_->up(); }));
  constexpr std::uint64_t count = 300;
  send(0, count - 1, 100'000);  // far more than a socket holds
  EXPECT_EQ(link_->backlog(), count);
  const auto frames = read_frames(socket, count);
  std::vector<std::uint64_t> wanted(count);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(frames, wanted);
  write_all(socket, acknowledge(count));
  EXPECT_TRUE(eventually([&] { return link_->backlog() == 0; }));
  send(count, count);
  EXPECT_THAT(read_frames(socket, 1), ElementsAre(count));
}

TEST_F(LinkTest, DistrustsStrangeAnswers) {
  struct Strange {
    std::string bytes, reason;
  };
  const std::vector<Strange> all = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "bytes; the most is"},
      {std::string("\x02\x00\x00\x00\x09\x00", 6), "a frame of version 9"},
      {answer(0, 0), "it answered nonsense"},
      {answer(77, 0), "it answered nonsense"},
      {answer(1, 0).substr(0, 4) + "\x01\x80", "it closed the connection"},
      {welcome(4), "it claims to have received what was not sent"},
      {welcome(0) + acknowledge(4), "it claims to have received what was not sent"},
      {welcome(~std::uint64_t{0}), "it claims to have received what was not sent"},
  };
  dial();
  send(0, 2);
  for (const auto& strange : all) {
    auto socket = take();
    write_all(socket, strange.bytes);
    if (strange.reason == "it closed the connection") socket.reset();
    EXPECT_TRUE(eventually([&] { return last_reason().find(strange.reason) != std::string::npos; }))
        << last_reason();
  }
  // It never gives up, and nothing was lost.
  const auto socket = take();
  write_all(socket, welcome(0));
  EXPECT_THAT(read_frames(socket, 3), ElementsAre(0, 1, 2));
}

TEST_F(LinkTest, DistrustsAPeerThatForgetsWhatItHad) {
  dial();
  send(0, 2);
  {
    const auto socket = take();
    write_all(socket, welcome(0));
    EXPECT_THAT(read_frames(socket, 3), ElementsAre(0, 1, 2));
    write_all(socket, acknowledge(2));
    EXPECT_TRUE(eventually([&] { return link_->backlog() == 1; }));
  }
  const auto socket = take();
  write_all(socket, welcome(1));
  EXPECT_TRUE(eventually([&] { return last_reason().starts_with("it claims"); }));
}

// Frames that are still held back were not sent: nobody can have received them.
TEST_F(LinkTest, DistrustsAPeerThatReceivedWhatIsHeldBack) {
  dial(10s);
  send(0, 4);
  for (const auto& bytes : {welcome(3), welcome(0) + acknowledge(5)}) {
    const auto before = link_->reconnections();
    const auto socket = take();
    write_all(socket, bytes);
    EXPECT_TRUE(eventually([&] { return link_->reconnections() > before; }));
    EXPECT_EQ(last_reason(), "it claims to have received what was not sent");
  }
  EXPECT_EQ(link_->backlog(), 5U);
}

TEST_F(LinkTest, WaitsLongerAfterEachFailure) {
  listener_.reset();
  auto gone = listen("127.0.0.1:0");
  ASSERT_TRUE(gone);
  const auto address = address_of(*gone);
  gone->reset();
  std::vector<Loop::Clock::time_point> failures;
  const auto count = [&] { return thread_.run([&] { return failures.size(); }); };
  thread_.run([&] {
    link_ = std::make_unique<Link>(thread_.loop(), self, address, 0ms, [&](const std::string&) {
      failures.push_back(Loop::Clock::now());
    });
  });
  EXPECT_TRUE(eventually([&] { return count() >= 5; }));
  thread_.stop();
  auto pause = 10ms;
  for (std::size_t i = 1; i < failures.size(); ++i, pause = std::min(pause * 2, 500ms))
    EXPECT_GE(failures[i] - failures[i - 1], pause) << i;
}

TEST_F(LinkTest, AnImpossibleAddressIsTrouble) {
  thread_.run([&] {
    link_ = std::make_unique<Link>(thread_.loop(), self, "nowhere", 0ms,
                                   [this](const std::string& reason) {
                                     const std::scoped_lock guard(mutex_);
                                     reasons_.push_back(reason);
                                   });
  });
  EXPECT_THAT(last_reason(), HasSubstr("is no address"));
}

TEST(Hello, IsReadAsItWasWritten) {
  std::string bytes;
  write_hello(bytes, {.id = ~std::uint64_t{0} >> 1, .key = 12345});
  wire::FrameReader reader;
  reader.feed(bytes);
  ASSERT_EQ(reader.next(), wire::Status::ready);
  const auto hello = read_hello(reader.frame());
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->id, ~std::uint64_t{0} >> 1);
  EXPECT_EQ(hello->key, 12345U);
  EXPECT_FALSE(read_hello({.kind = 0, .body = "turno"}));
  EXPECT_FALSE(read_hello({.kind = 1, .body = reader.frame().body}));
}

}  // namespace
}  // namespace turno::net

// A link against a peer that the test plays: every byte that it sends, and every strange answer.
#include "net/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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

std::string answer(std::uint8_t kind, std::uint64_t generation, std::uint64_t received) {
  std::string bytes;
  write_count(bytes, static_cast<LinkKind>(kind), {generation, received});
  return bytes;
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

  void dial(Loop::Clock::duration latency = {}, std::size_t most = Link::usual_backlog) {
    thread_.run([&] {
      link_ = std::make_unique<Link>(thread_.loop(), self,
                                     Peer{2, "the peer", address_of(listener_), latency},
                                     handlers(), most);
    });
  }
  Link::Handlers handlers() {
    return {.trouble =
                [this](const std::string& reason) {
                  const std::scoped_lock guard(mutex_);
                  reasons_.push_back(reason);
                },
            .gap =
                [this](std::uint32_t epoch) {
                  const std::scoped_lock guard(mutex_);
                  gaps_.push_back(epoch);
                }};
  }
  void send(std::uint64_t first, std::uint64_t last, std::size_t size = 10,
            std::uint32_t epoch = 1) {
    for (auto i = first; i <= last; ++i)
      link_->send(epoch, i, 3, [&](wire::Writer& body) { body.raw(std::string(size, 'x')); });
  }

  // The peer's end of the next connection, after its hello.
  Fd take() {
    auto socket = accept_blocking(listener_);
    EXPECT_TRUE(socket);
    reader_ = {};
    EXPECT_EQ(next(socket), wire::Status::ready);
    const auto hello = read_hello(reader_.frame());
    EXPECT_TRUE(hello && hello->id == self.id && hello->key == self.key && hello->to == 2);
    generation_ = hello ? hello->generation : 0;
    return socket;
  }
  // As a peer answers that has heard the last hello.
  [[nodiscard]] std::string welcome(std::uint64_t received) const {
    return answer(static_cast<std::uint8_t>(LinkKind::welcome), generation_, received);
  }
  [[nodiscard]] std::string acknowledge(std::uint64_t received) const {
    return answer(static_cast<std::uint8_t>(LinkKind::acknowledge), generation_, received);
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

  [[nodiscard]] std::vector<std::uint32_t> gaps() {
    const std::scoped_lock guard(mutex_);
    return gaps_;
  }

  Fd listener_;
  wire::FrameReader reader_;
  std::uint64_t generation_ = 0;  // of the last hello
  std::mutex mutex_;
  std::vector<std::string> reasons_;
  std::vector<std::uint32_t> gaps_;
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

// Whoever appends may hold a lock that others need: the system is called later.
TEST_F(LinkTest, WhatIsAppendedIsWrittenWhenItIsFlushed) {
  const auto append = [&](std::uint64_t number) {
    return link_->append(1, number, 3, [](wire::Writer&) {});
  };
  dial();
  EXPECT_FALSE(append(0));  // not up yet: it will be written then
  const auto socket = take();
  write_all(socket, welcome(0));
  EXPECT_THAT(read_frames(socket, 1), ElementsAre(0));
  EXPECT_TRUE(append(1));
  EXPECT_TRUE(append(2));
  EXPECT_FALSE(wait_for(socket, POLLIN, 30ms));
  EXPECT_EQ(link_->backlog(), 3U);
  link_->flush();
  EXPECT_EQ(read_some(socket).size(), 2U * (4 + 4));  // both in one write
  // The loop flushes by itself, at the end of its round.
  EXPECT_FALSE(thread_.run([&] { return append(3) || append(4); }));
  EXPECT_EQ(read_some(socket).size(), 2U * (4 + 4));
  send(5, 5, 0);
  EXPECT_THAT(read_frames(socket, 1), ElementsAre(5));
}

// While the peer does not read there is nothing to flush, and afterwards nothing is missing.
TEST_F(LinkTest, WhatIsAppendedWhileThePeerDoesNotReadIsWrittenLater) {
  dial();
  const auto socket = take();
  write_all(socket, welcome(0));
  EXPECT_TRUE(eventually([&] { return link_->up(); }));
  std::uint64_t count = 0;
  const std::string body(100'000, 'x');
  const auto append = [&] {
    return link_->append(1, count++, 3, [&](wire::Writer& out) { out.raw(body); });
  };
  while (append()) link_->flush();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(append());
  std::vector<std::uint64_t> wanted(count);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(read_frames(socket, count), wanted);
  EXPECT_TRUE(eventually([&] { return append(); }));
}

TEST_F(LinkTest, DistrustsStrangeAnswers) {
  struct Strange {
    std::function<std::string()> bytes;
    std::string reason;
  };
  const std::vector<Strange> all = {
      {[] { return "HTTP/1.1 400 Bad Request\r\n\r\n"; }, "bytes; the most is"},
      {[] { return std::string("\x02\x00\x00\x00\xff\x00", 6); }, "a frame of version 255"},
      {[&] { return answer(0, generation_, 0); }, "it answered nonsense"},
      {[&] { return answer(77, generation_, 0); }, "it answered nonsense"},
      {[&] { return welcome(0).substr(0, 4) + static_cast<char>(wire::version) + "\x80"; },
       "it closed the connection"},
      {[&] { return answer(1, generation_ - 1, 0); }, "it answered another connection"},
  };
  dial();
  send(0, 2);
  for (const auto& strange : all) {
    auto socket = take();
    write_all(socket, strange.bytes());
    if (strange.reason == "it closed the connection") socket.reset();
    EXPECT_TRUE(eventually([&] { return last_reason().find(strange.reason) != std::string::npos; }))
        << last_reason();
  }
  // It never gives up, and nothing was lost.
  const auto socket = take();
  write_all(socket, welcome(0));
  EXPECT_THAT(read_frames(socket, 3), ElementsAre(0, 1, 2));
  EXPECT_EQ(link_->gaps(), 0U);
}

// ---- starting anew

TEST_F(LinkTest, StartsAnewAfterAnImpossibleCount) {
  const std::vector<std::function<std::string()>> all = {
      [&] { return welcome(4); },
      [&] { return welcome(0) + acknowledge(4); },
      [&] { return welcome(~std::uint64_t{0}); },
      // Somebody spoke in this node's name.
      [&] { return answer(1, generation_ + 1'000'000, 0); },
  };
  dial();
  LoggedLines lines;
  for (std::uint32_t epoch = 1; epoch <= all.size(); ++epoch) {
    send(0, 2, 10, epoch);
    auto before = generation_;
    {
      const auto socket = take();
      EXPECT_TRUE(epoch == 1 || generation_ == before);
      before = generation_;
      write_all(socket, all[epoch - 1]());
      EXPECT_TRUE(eventually([&] { return link_->gaps() == epoch; }));
    }
    {
      const auto socket = take();
      EXPECT_TRUE(older(before, generation_));
      EXPECT_EQ(link_->backlog(), 0U);
      send(3, 4, 10, epoch);  // behind the gap: the peer must not hear them
      EXPECT_EQ(gaps().size(), epoch - 1);
      write_all(socket, welcome(0));
      EXPECT_TRUE(eventually([&] { return gaps().size() == epoch; }));
      EXPECT_EQ(gaps().back(), epoch);
      EXPECT_EQ(link_->backlog(), 0U);
    }
  }
  const auto socket = take();
  write_all(socket, welcome(0));
  send(5, 6, 10, 9);
  EXPECT_THAT(read_frames(socket, 2), ElementsAre(5, 6));
  const auto text = lines.take();
  EXPECT_EQ(count_of(text,
                     "warning the link to the peer loses frames and starts anew: it claims "
                     "to have received what was not sent"),
            3U)
      << text;
  EXPECT_EQ(count_of(text, "it has heard another one in this node's name"), 1U) << text;
}

TEST_F(LinkTest, StartsAnewWithAPeerThatForgetsWhatItHad) {
  dial();
  send(0, 2);
  {
    const auto socket = take();
    write_all(socket, welcome(0));
    EXPECT_THAT(read_frames(socket, 3), ElementsAre(0, 1, 2));
    write_all(socket, acknowledge(2));
    EXPECT_TRUE(eventually([&] { return link_->backlog() == 1; }));
  }
  const LoggedLines lines;
  const auto socket = take();
  write_all(socket, welcome(1));
  EXPECT_TRUE(eventually([&] { return link_->gaps() == 1; }));
}

// Frames that are still held back were not sent: nobody can have received them.
TEST_F(LinkTest, StartsAnewWithAPeerThatReceivedWhatIsHeldBack) {
  dial(10s);
  const LoggedLines lines;
  for (std::uint32_t epoch = 1; epoch < 3; ++epoch) {
    send(0, 4, 10, epoch);
    const auto socket = take();
    write_all(socket, epoch == 1 ? welcome(3) : welcome(0) + acknowledge(5));
    EXPECT_TRUE(eventually([&] { return link_->gaps() == epoch; }));
    EXPECT_EQ(last_reason(), "it claims to have received what was not sent");
  }
}

// A stopped peer costs so much and no more. When it goes on, it hears all of a later epoch.
TEST_F(LinkTest, KeepsABoundedBacklog) {
  constexpr std::size_t most = 1'000'000;
  dial({}, most);
  LoggedLines lines;
  std::uint64_t heard = 0;
  {
    const auto socket = take();
    write_all(socket, welcome(0));
    EXPECT_TRUE(eventually([&] { return link_->up(); }));
    const auto first = generation_;
    std::size_t highest = 0;
    std::uint64_t count = 0;
    for (; link_->gaps() == 0; ++count) {
      send(count, count, 10'000);
      highest = std::max(highest, link_->backlog_bytes());
    }
    EXPECT_GT(highest, most / 2);
    EXPECT_LE(highest, most);
    send(count, count + 100, 10'000);
    EXPECT_EQ(link_->backlog_bytes(), 0U);
    EXPECT_TRUE(gaps().empty());  // it is not asked for a new view while the peer does not answer
    // The peer goes on: it has a beginning of what was sent, and nothing from behind the gap.
    while (next(socket) == wire::Status::ready) EXPECT_EQ(reader_.frame().lock, heard++);
    EXPECT_LT(heard, count);
    EXPECT_EQ(generation_, first);
  }
  const auto socket = take();
  send(0, 1, 10, 2);  // a new view came before the peer
  write_all(socket, welcome(0));
  EXPECT_TRUE(eventually([&] { return gaps() == std::vector<std::uint32_t>{1}; }));
  send(7, 7);
  send(2, 3, 10, 2);
  EXPECT_THAT(read_frames(socket, 4), ElementsAre(0, 1, 2, 3));
  write_all(socket, acknowledge(4));
  EXPECT_TRUE(eventually([&] { return link_->backlog() == 0; }));
  EXPECT_EQ(link_->backlog_bytes(), 0U);
  EXPECT_EQ(gaps().size(), 1U);
  EXPECT_EQ(count_of(lines.take(), "more waits for it than a link keeps"), 1U);
}

TEST_F(LinkTest, KeepsABoundedBacklogWhileItIsDown) {
  dial({}, 1000);
  const LoggedLines lines;
  send(0, 99, 100);
  EXPECT_TRUE(eventually([&] { return link_->gaps() == 1; }));
  EXPECT_EQ(link_->backlog(), 0U);
  send(0, 99, 100, 2);
  EXPECT_TRUE(eventually([&] { return link_->gaps() == 2; }));
  send(0, 4, 100, 3);
  // Two connections were given up, their hellos are still there.
  auto socket = take();
  for (std::uint64_t last = 0; generation_ != last && wait_for(listener_, POLLIN, 100ms);) {
    last = generation_;
    socket = take();
  }
  write_all(socket, welcome(0));
  EXPECT_THAT(read_frames(socket, 5), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(eventually([&] { return gaps() == std::vector<std::uint32_t>{2}; }));
}

// What a change of the view makes a node say at once is kept whatever its size; what comes later is
// bounded again.
TEST_F(LinkTest, KeepsASurge) {
  dial({}, 1000);
  const LoggedLines lines;
  link_->begin_surge();
  send(0, 99, 100);
  link_->end_surge();
  EXPECT_EQ(link_->backlog(), 100U);
  EXPECT_EQ(link_->gaps(), 0U);
  send(100, 199, 100);
  EXPECT_TRUE(eventually([&] { return link_->gaps() == 1; }));
  EXPECT_EQ(link_->backlog(), 0U);
  // The next surge is a new one.
  link_->begin_surge();
  send(0, 99, 100, 2);
  link_->end_surge();
  EXPECT_EQ(link_->backlog(), 100U);
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
    link_ = std::make_unique<Link>(
        thread_.loop(), self, Peer{2, "the peer", address},
        Link::Handlers{[&](const std::string&) { failures.push_back(Loop::Clock::now()); },
                       [](std::uint32_t) {}});
  });
  EXPECT_TRUE(eventually([&] { return count() >= 5; }));
  thread_.stop();
  auto pause = 10ms;
  for (std::size_t i = 1; i < failures.size(); ++i, pause = std::min(pause * 2, 500ms))
    EXPECT_GE(failures[i] - failures[i - 1], pause) << i;
}

TEST_F(LinkTest, AnImpossibleAddressIsTrouble) {
  thread_.run([&] {
    link_ =
        std::make_unique<Link>(thread_.loop(), self, Peer{2, "the peer", "nowhere"}, handlers());
  });
  EXPECT_THAT(last_reason(), HasSubstr("is no address"));
}

TEST(Hello, IsReadAsItWasWritten) {
  constexpr auto large = ~std::uint64_t{0};
  std::string bytes;
  write_hello(bytes, {.id = large, .key = large - 1, .to = large - 2, .generation = large - 3});
  EXPECT_LE(bytes.size() - 4, longest_hello);
  wire::FrameReader reader;
  reader.feed(bytes);
  ASSERT_EQ(reader.next(), wire::Status::ready);
  const auto hello = read_hello(reader.frame());
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->id, large);
  EXPECT_EQ(hello->key, large - 1);
  EXPECT_EQ(hello->to, large - 2);
  EXPECT_EQ(hello->generation, large - 3);
  EXPECT_FALSE(read_hello({.kind = 0, .body = "turno"}));
  EXPECT_FALSE(read_hello({.kind = 1, .body = reader.frame().body}));
}

TEST(Generation, HasANewerOneWhateverItIs) {
  for (const auto generation : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    EXPECT_TRUE(older(generation, generation + 1));
    EXPECT_FALSE(older(generation + 1, generation));
    EXPECT_FALSE(older(generation, generation));
  }
}

}  // namespace
}  // namespace turno::net

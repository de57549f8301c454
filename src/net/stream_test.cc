#include "net/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "net/acceptor.h"
#include "net/testing.h"

namespace turno::net {
namespace {

using namespace std::chrono_literals;

// Says back what it hears.
class Echo final : public Stream {
 public:
  using Stream::pause_reading;
  using Stream::Stream;
  std::atomic<int> closings{0}, heard{0};
  std::string reason;  // after `closings`
  bool ends_with_a_point = false;

 private:
  void readable() override {
    std::string room(1024, '\0');
    const auto size = receive(room);
    if (ended()) return closed("the end");
    heard += static_cast<int>(size);
    out().append(room, 0, size);
    if (ends_with_a_point && out().ends_with('.')) return finish();
    flush();
  }
  void closed(std::string_view why) override {
    reason = why;
    close();
    ++closings;
  }
};

class StreamTest : public testing::Test {
 protected:
  StreamTest() {
    acceptor_ = thread_.run([&] {
      return std::move(*Acceptor::listen(thread_.loop(), "127.0.0.1:0", [this](Fd socket) {
        echo_ = std::make_unique<Echo>(thread_.loop(), std::move(socket));
        ++accepted_;
      }));
    });
    client_ = connect_blocking(acceptor_->address());
    EXPECT_TRUE(eventually([&] { return accepted_ == 1; }));
  }
  ~StreamTest() override {
    thread_.stop();
    echo_.reset();
    acceptor_.reset();
  }

  std::string read_exactly(std::size_t size) {
    std::string all;
    while (all.size() < size) {
      const auto bytes = read_some(client_);
      if (bytes.empty()) break;
      all += bytes;
    }
    return all;
  }

  LoopThread thread_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<Echo> echo_;
  std::atomic<int> accepted_{0};
  Fd client_;
};

TEST_F(StreamTest, ReadsAndWrites) {
  EXPECT_TRUE(write_all(client_, "hello"));
  EXPECT_EQ(read_exactly(5), "hello");
}

TEST_F(StreamTest, KeepsWhatIsNotReadAtOnce) {
  // More than the kernel keeps for two sockets.
  std::string much;
  for (int i = 0; much.size() < (std::size_t{12} << 20); ++i) much += std::to_string(i) + " ";
  thread_.run([&] {
    echo_->out() += much;
    echo_->flush();
    EXPECT_GT(echo_->unwritten(), 0U);
    echo_->out() += "end";
    echo_->flush();
  });
  EXPECT_EQ(read_exactly(much.size() + 3), much + "end");
  EXPECT_EQ(thread_.run([&] { return echo_->unwritten(); }), 0U);
}

TEST_F(StreamTest, FinishWritesTheRestFirst) {
  const std::string much(std::size_t{12} << 20, 'x');
  thread_.run([&] {
    echo_->out() += much;
    echo_->finish();
    EXPECT_TRUE(echo_->is_open());
  });
  EXPECT_EQ(read_to_end(client_).size(), much.size());
}

TEST_F(StreamTest, FinishEndsTheConversation) {
  thread_.run([&] { echo_->ends_with_a_point = true; });
  EXPECT_TRUE(write_all(client_, "that is all."));
  EXPECT_EQ(read_to_end(client_), "that is all.");
  client_.reset();
  EXPECT_TRUE(eventually([&] { return echo_->closings == 1; }));
}

TEST_F(StreamTest, PausedItReadsNothing) {
  thread_.run([&] { echo_->pause_reading(true); });
  EXPECT_TRUE(write_all(client_, "hello"));
  EXPECT_FALSE(wait_for(client_, POLLIN, 30ms));
  EXPECT_EQ(echo_->heard, 0);
  thread_.run([&] { echo_->pause_reading(false); });
  EXPECT_EQ(read_exactly(5), "hello");
}

TEST_F(StreamTest, PausedItStillSeesTheEnd) {
  thread_.run([&] { echo_->pause_reading(true); });
  EXPECT_TRUE(write_all(client_, "hello"));
  client_.reset();
  EXPECT_TRUE(eventually([&] { return echo_->closings == 1; }));
  EXPECT_EQ(echo_->heard, 0);
}

TEST_F(StreamTest, SeesTheEndOnce) {
  client_.reset();
  EXPECT_TRUE(eventually([&] { return echo_->closings == 1; }));
  EXPECT_EQ(thread_.run([&] { return echo_->reason; }), "the end");
  EXPECT_FALSE(thread_.run([&] { return echo_->is_open(); }));
  EXPECT_EQ(echo_->closings, 1);
}

TEST_F(StreamTest, SeesAReset) {
  // There is something to write, and nobody will ever read it.
  thread_.run([&] {
    echo_->out() += std::string(std::size_t{12} << 20, 'x');
    echo_->flush();
  });
  reset(client_);
  EXPECT_TRUE(eventually([&] { return echo_->closings == 1; }));
}

TEST_F(StreamTest, CloseIsSilent) {
  thread_.run([&] { echo_->close(); });
  EXPECT_EQ(read_to_end(client_), "");
  thread_.run([&] {
    echo_->out() += "too late";
    echo_->flush();
    echo_->close();
  });
  EXPECT_EQ(echo_->closings, 0);
}

TEST(Acceptor, RemovesItsPathWhenItGoes) {
  const auto path = testing::TempDir() + "turno-acceptor-" + std::to_string(::getpid());
  Loop loop;
  {
    const auto acceptor = Acceptor::listen(loop, path, [](const Fd&) {});
    ASSERT_TRUE(acceptor) << acceptor.error();
    EXPECT_EQ((*acceptor)->address(), "unix:" + path);
    EXPECT_EQ(::access(path.c_str(), F_OK), 0);
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_FALSE(Acceptor::listen(loop, "nowhere", [](const Fd&) {}));
}

}  // namespace
}  // namespace turno::net

#include "net/byte_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "net/socket.h"
#include "net/testing.h"

namespace turno::net {
namespace {

class ByteStreamTest : public testing::Test {
 protected:
  ByteStreamTest() {
    const auto listener = listen("127.0.0.1:0");
    here_ = ByteStream(connect_blocking(address_of(*listener)));
    there_ = ByteStream(accept_blocking(*listener));
  }
  // What has come there.
  std::string received() {
    std::array<char, 4096> room{};
    std::string text;
    EXPECT_TRUE(eventually([&] {
      const auto moved = there_.receive(room);
      text.append(room.data(), moved.bytes);
      return moved.blocked && !text.empty();
    }));
    return text;
  }

  ByteStream here_, there_;
};

TEST_F(ByteStreamTest, MovesBytes) {
  EXPECT_EQ(here_.send("hello ").bytes, 6U);
  EXPECT_EQ(here_.send_all("there").bytes, 5U);
  EXPECT_EQ(received(), "hello there");
}

TEST_F(ByteStreamTest, WaitsForNothing) {
  std::array<char, 16> room{};
  const auto nothing = here_.receive(room);
  EXPECT_TRUE(nothing.blocked);
  EXPECT_FALSE(nothing.ended);
  EXPECT_EQ(nothing.bytes, 0U);
  const auto some = here_.send_all(std::string(std::size_t{64} << 20, 'x'));
  EXPECT_TRUE(some.blocked);
  EXPECT_GT(some.bytes, 0U);
}

TEST_F(ByteStreamTest, TellsThatTheOtherSideHasFinished) {
  EXPECT_EQ(there_.send("bye").bytes, 3U);
  there_.finish();
  std::array<char, 16> room{};
  std::string text;
  ByteStream::Moved moved;
  EXPECT_TRUE(eventually([&] {
    moved = here_.receive(room);
    text.append(room.data(), moved.bytes);
    return moved.ended;
  }));
  EXPECT_EQ(text, "bye");
  EXPECT_EQ(moved.reason(), "closed by the other side");
  EXPECT_EQ(here_.send("still heard").bytes, 11U);
  EXPECT_EQ(received(), "still heard");
}

TEST_F(ByteStreamTest, TellsWhyItBroke) {
  there_.close();
  ByteStream::Moved moved;
  EXPECT_TRUE(eventually([&] {
    moved = here_.send("anybody?");
    return moved.ended;
  }));
  EXPECT_TRUE(moved.error == EPIPE || moved.error == ECONNRESET) << moved.error;
  here_.shut_down();
  EXPECT_TRUE(here_.send("nobody").ended);
}

// A client that can wait looks names up and says why nobody answers.
TEST(ConnectWithin, SaysWhyNobodyAnswers) {
  for (const auto* text : {"unix:/nowhere/turno.sock", "127.0.0.1:1", "localhost:1"}) {
    const auto socket = connect_within(*parse_address(text), std::chrono::milliseconds(1000));
    ASSERT_FALSE(socket);
    EXPECT_TRUE(socket.error() == "Connection refused" ||
                socket.error() == "No such file or directory")
        << socket.error();
  }
}

TEST(ConnectWithin, FindsNames) {
  const auto listener = listen("localhost:0");
  ASSERT_TRUE(listener);
  auto address = *parse_address(address_of(*listener));
  address.host = "localhost";
  EXPECT_TRUE(connect_within(address, std::chrono::milliseconds(1000)));
}

}  // namespace
}  // namespace turno::net

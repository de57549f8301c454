#include "client/socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing.h"

namespace turno::client {
namespace {

using ::testing::HasSubstr;

TEST(AddressOfANode, IsReadInAllItsForms) {
  EXPECT_EQ(parse_address("localhost:7400"), (Address{.host = "localhost", .port = "7400"}));
  EXPECT_EQ(parse_address("[::1]:7400"), (Address{.host = "::1", .port = "7400"}));
  EXPECT_EQ(parse_address("unix:/run/turno.sock"), (Address{.path = "/run/turno.sock"}));
  EXPECT_EQ(parse_address("unix:turno.sock"), (Address{.path = "turno.sock"}));
  EXPECT_EQ(parse_address("./turno.sock"), (Address{.path = "./turno.sock"}));
  for (const auto* text : {"localhost:7400", "[::1]:7400", "unix:/run/turno.sock"})
    EXPECT_EQ(parse_address(text)->text(), text);
}

TEST(AddressOfANode, IsRefusedWithTheReason) {
  const auto refusal = [](const std::string& text) {
    const auto address = parse_address(text);
    EXPECT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Error::Code::invalid);
    return address.error().message;
  };
  EXPECT_THAT(refusal(""), HasSubstr("no port"));
  EXPECT_THAT(refusal("localhost"), HasSubstr("no port"));
  EXPECT_THAT(refusal(":7400"), HasSubstr("no host"));
  EXPECT_THAT(refusal("::1:7400"), HasSubstr("brackets"));
  for (const auto* text : {"a:", "a:b", "a:0", "a:65536", "a:1234567890123", "a:-1"})
    EXPECT_THAT(refusal(text), HasSubstr("from 1 to 65535")) << text;
  EXPECT_THAT(refusal("unix:"), HasSubstr("no path"));
  EXPECT_THAT(refusal("/" + std::string(200, 'x')), HasSubstr("107 bytes"));
}

TEST(SocketOfAClient, SaysWhereNobodyListens) {
  for (const auto* text : {"unix:/nowhere/turno.sock", "127.0.0.1:1"}) {
    const auto socket = Socket::connect(*parse_address(text), std::chrono::milliseconds(1000));
    ASSERT_FALSE(socket);
    EXPECT_EQ(socket.error().code, Error::Code::unavailable);
    EXPECT_THAT(socket.error().message, HasSubstr(text));
  }
}

TEST(SocketOfAClient, DoesNotWait) {
  const Listener listener;
  const auto socket =
      Socket::connect(*parse_address(listener.address()), std::chrono::milliseconds(1000));
  ASSERT_TRUE(socket);
  std::array<char, 16> bytes{};
  EXPECT_EQ(socket->receive(bytes), Socket::again);
  const std::string much(1 << 20, 'x');
  std::ptrdiff_t sent = 0;
  while ((sent = socket->send(much)) > 0) {
  }
  EXPECT_EQ(sent, Socket::again);
}

}  // namespace
}  // namespace turno::client

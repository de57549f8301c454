#include "net/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace turno::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Address, IsReadInAllItsForms) {
  EXPECT_EQ(parse_address("localhost:7400"), (Address{.host = "localhost", .port = 7400}));
  EXPECT_EQ(parse_address("[::1]:7400"), (Address{.host = "::1", .port = 7400}));
  EXPECT_EQ(parse_address(":7400"), (Address{.host = "127.0.0.1", .port = 7400}));
  EXPECT_EQ(parse_address("unix:/run/turno.sock"), (Address{.path = "/run/turno.sock"}));
  EXPECT_EQ(parse_address("unix:turno.sock"), (Address{.path = "turno.sock"}));
  EXPECT_EQ(parse_address("./turno.sock"), (Address{.path = "./turno.sock"}));
  for (const auto* text : {"localhost:7400", "[::1]:7400", "unix:/run/turno.sock"})
    EXPECT_EQ(parse_address(text)->text(), text);
}

TEST(Address, IsRefusedWithTheReason) {
  const auto refusal = [](const std::string& text) {
    const auto address = parse_address(text);
    EXPECT_FALSE(address) << text;
    EXPECT_THAT(address.error(), StartsWith("'" + text + "' is no address: "));
    EXPECT_THAT(address.error(), HasSubstr("write HOST:PORT or unix:PATH"));
    return address.error();
  };
  EXPECT_THAT(refusal(""), HasSubstr("no port"));
  EXPECT_THAT(refusal("localhost"), HasSubstr("no port"));
  EXPECT_THAT(refusal("::1:7400"), HasSubstr("brackets"));
  for (const auto* text : {"a:", "a:b", "a:65536", "a:1234567890123", "a:-1", "a:+1", "a: 1"})
    EXPECT_THAT(refusal(text), HasSubstr("a port is a number from 0 to 65535")) << text;
  EXPECT_THAT(refusal("unix:"), HasSubstr("no path"));
  EXPECT_THAT(refusal(std::string("/a\0b", 4)), HasSubstr("a zero"));
  EXPECT_THAT(refusal("/" + std::string(200, 'x')), HasSubstr("107 bytes"));
  EXPECT_TRUE(parse_address("/" + std::string(longest_socket_path - 1, 'x')));
}

}  // namespace
}  // namespace turno::net

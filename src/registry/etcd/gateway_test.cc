#include "registry/etcd/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "registry/etcd/etcd_testing.h"

namespace turno::registry {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Json key() { return Json().add("key", "YQ=="); }

TEST(Gateway, SaysWhenItAsked) {
  Etcd etcd;
  Gateway gateway({.endpoints = {etcd.endpoint()}});
  const auto before = boot_clock();
  const auto answer = gateway.post("kv/range", key());
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->sent, before);
  EXPECT_LE(answer->sent, boot_clock());
  EXPECT_NE(answer->body.if_contains("header"), nullptr);
}

TEST(Gateway, AsksTheNextEndpointIfOneIsSilentOrGone) {
  Etcd etcd, silent;
  silent.stop();
  const auto nobody = "http://127.0.0.1:" + std::to_string(free_ports(1)[0]);
  Gateway gateway({.endpoints = {nobody, silent.endpoint(), etcd.endpoint()}, .patience = 200ms});
  const auto before = boot_clock();
  const auto answer = gateway.post("kv/range", key());
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->sent - before, 200ms) << "when the one was asked that answered";
  const auto again = boot_clock();
  ASSERT_TRUE(gateway.post("kv/range", key()));
  EXPECT_LT(boot_clock() - again, 200ms) << "that one is asked first now";
}

TEST(Gateway, NamesAllWhoDoNotAnswer) {
  const auto ports = free_ports(2);
  const auto one = "http://127.0.0.1:" + std::to_string(ports[0]);
  const auto two = "http://127.0.0.1:" + std::to_string(ports[1]);
  Gateway gateway({.endpoints = {one, two}, .patience = 500ms});
  const auto answer = gateway.post("kv/range", key());
  ASSERT_FALSE(answer);
  EXPECT_FALSE(answer.error().answered);
  EXPECT_THAT(answer.error().message, HasSubstr(one));
  EXPECT_THAT(answer.error().message, HasSubstr(two));
}

TEST(Gateway, TellsWhatEtcdRefuses) {
  Etcd etcd;
  Gateway gateway({.endpoints = {etcd.endpoint()}});
  const auto answer = gateway.post("lease/revoke", Json().add("ID", "12345"));
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().answered);
  EXPECT_EQ(answer.error().code, Gateway::not_found);
  EXPECT_THAT(answer.error().message, HasSubstr("lease not found"));
}

TEST(Gateway, KnowsWhatIsNoEtcd) {
  Etcd etcd;
  // Its port for other members of its cluster speaks HTTP, but does not know what is asked for.
  Gateway gateway({.endpoints = {etcd.endpoint() + "/elsewhere"}});
  const auto answer = gateway.post("kv/range", key());
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no answer of etcd's: 404"));
}

TEST(Gateway, ShowsItsPasswordWheneverItIsAsked) {
  Etcd etcd;
  Gateway root({.endpoints = {etcd.endpoint()}});
  const auto do_it = [&](const char* path, const Json& body) {
    const auto answer = root.post(path, body);
    EXPECT_TRUE(answer) << path << ": " << answer.error().message;
  };
  do_it("auth/user/add", Json().add("name", "root").add("password", "secret"));
  do_it("auth/role/add", Json().add("name", "root"));
  do_it("auth/user/grant", Json().add("user", "root").add("role", "root"));
  do_it("auth/enable", Json());
  const auto refused = root.post("kv/range", key());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().answered);
  Gateway wrong({.endpoints = {etcd.endpoint()}, .user = "root", .password = "guess"});
  const auto denied = wrong.post("kv/range", key());
  ASSERT_FALSE(denied);
  EXPECT_THAT(denied.error().message, HasSubstr("authentication failed"));
  Gateway known({.endpoints = {etcd.endpoint()}, .user = "root", .password = "secret"});
  EXPECT_TRUE(known.post("kv/range", key()));
  // Tokens do not outlive the process that gave them.
  etcd.kill();
  etcd.start();
  for (int i = 0; i < 100 && !known.post("kv/range", key()); ++i) std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(known.post("kv/range", key()));
}

}  // namespace
}  // namespace turno::registry

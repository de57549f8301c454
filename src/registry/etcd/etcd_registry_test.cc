// The registry in a real etcd.
#include "registry/etcd/etcd_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/etcd/base64.h"
#include "registry/etcd/etcd_testing.h"
#include "registry/etcd/view_text.h"

namespace turno::registry {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr EtcdTimes quick{
    .authority = 3s, .beat = 100ms, .lease = 1s, .grace = 300ms, .turn = 50ms, .to_join = 5s};

template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds patience = 20s) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

class EtcdRegistryTest : public ::testing::Test {
 protected:
  std::unique_ptr<EtcdRegistry> make(const std::string& cluster = "test") {
    return std::make_unique<EtcdRegistry>(
        EtcdAccess{.endpoints = {etcd_.endpoint()}, .patience = 1000ms}, cluster, quick);
  }
  // As a keeper does, until there are no others but these in the view: "a b @ 3".
  static std::string keep(EtcdRegistry& registry) {
    auto view = registry.current();
    if (view)
      for (const auto& member : view->members)
        if (registry.is_dead(member.id)) view = registry.reconsider(false);
    return summary(view);
  }
  // Writes whatever it is where the view is.
  void overwrite(const std::string& text, const std::string& key = "/turno/test/view") {
    const auto put = Json().add("key", to_base64(key)).add("value", to_base64(text));
    ASSERT_TRUE(gateway_.post("kv/put", put));
  }
  View written() {
    const auto answer = gateway_.post("kv/range", Json().add("key", to_base64("/turno/test/view")));
    const auto& pair = answer->body.at("kvs").as_array().at(0).as_object();
    return *view_from_text(*from_base64(pair.at("value").as_string().c_str()));
  }
  std::int64_t revision() {
    const auto answer = gateway_.post("kv/range", Json().add("key", "YQ=="));
    return std::stoll(answer->body.at("header").at("revision").as_string().c_str());
  }

  Etcd etcd_;
  Gateway gateway_{{.endpoints = {etcd_.endpoint()}}};
};

TEST_F(EtcdRegistryTest, MembersJoinAndLeave) {
  auto a = make(), b = make();
  EXPECT_EQ(summary(a->current()), "absent: etcd, /turno/test/: there is no cluster");
  EXPECT_EQ(summary(a->join(member_named("a"), running("nxr"))), "a @ 1");
  EXPECT_EQ(summary(b->join(member_named("b"), running(""))), "a b @ 2");
  a->look_again();
  const auto view = a->current();
  EXPECT_EQ(summary(view), "a b @ 2");
  EXPECT_EQ(view->algorithm, "nxr");
  EXPECT_EQ(view->authority_ms, 3000);
  EXPECT_TRUE(a->leave());
  b->look_again();
  EXPECT_EQ(summary(b->current()), "b @ 3") << "who leaves has not crashed";
  EXPECT_TRUE(b->leave());
  EXPECT_EQ(summary(b->current()), "absent: etcd, /turno/test/: there is no cluster");
  EXPECT_EQ(summary(b->join(member_named("b"), running("dir"))), "b @ 5") << "epochs go on";
}

TEST_F(EtcdRegistryTest, ClustersOfOtherNamesAreOthers) {
  auto a = make("one"), b = make("two");
  EXPECT_EQ(summary(a->join(member_named("a"), running("nxr"))), "a @ 1");
  EXPECT_EQ(summary(b->join(member_named("a"), running("nxr"))), "a @ 1");
}

TEST_F(EtcdRegistryTest, RefusesWhatAnyRegistryRefuses) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  EXPECT_THAT(summary(a->join(member_named("c"), running("nxr"))), HasSubstr("already joined"));
  EXPECT_THAT(summary(b->join(member_named("b"), running("dir"))),
              StartsWith("refused: this cluster runs 'nxr'"));
  const std::jthread keeper([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      keep(*a);
      std::this_thread::sleep_for(20ms);
    }
  });
  EXPECT_THAT(summary(b->join(member_named("a"), running("nxr"))), StartsWith("refused: a node"));
  EXPECT_EQ(summary(b->join(member_named("b"), running("nxr"))), "a b @ 2");
}

// All at once, by compare-and-swap: one sequence of views, each with one more.
TEST_F(EtcdRegistryTest, ManyJoinAtOnce) {
  std::vector<std::unique_ptr<EtcdRegistry>> all;
  for (int i = 0; i < 8; ++i) all.push_back(make());
  std::vector<Expected<View>> views(all.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < all.size(); ++i)
    threads.emplace_back(
        [&, i] { views[i] = all[i]->join(member_named("n" + std::to_string(i)), running("nxr")); });
  for (auto& thread : threads) thread.join();
  std::set<std::uint32_t> epochs;
  for (const auto& view : views) {
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->size(), view->epoch);
    epochs.insert(view->epoch);
  }
  EXPECT_EQ(epochs.size(), all.size());
}

TEST_F(EtcdRegistryTest, WhoseLeaseIsGoneIsDroppedAfterAWhile) {
  auto a = make(), b = make(), c = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  ASSERT_TRUE(b->join(member_named("b"), running("nxr")));
  const auto dead = c->join(member_named("c"), running("nxr"));
  ASSERT_TRUE(dead);
  EXPECT_FALSE(a->is_dead(dead->members[2].id));
  EXPECT_TRUE(eventually([&] {
    keep(*b);
    return keep(*a) == "a b @ 4 crashed";
  }));
  const auto view = a->current();
  EXPECT_EQ(view->last_crash, 4);
  EXPECT_EQ(view->last_unproven, 4) << "it may act for its users, as far as anybody knows";
  ASSERT_EQ(view->casualties.size(), 1);
  EXPECT_EQ(view->casualties[0].name, "c");
  // Who was dropped while it lived is told so, and has no authority from then on.
  const auto until = c->authority_until();
  c->look_again();
  EXPECT_THAT(summary(c->current()), HasSubstr("lost: "));
  EXPECT_EQ(c->authority_until(), until);
}

TEST_F(EtcdRegistryTest, ANameIsFreeAgainSoonAfterItsNodeDied) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  a.reset();
  EXPECT_EQ(summary(b->join(member_named("a"), running("nxr"))), "a @ 2 crashed");
}

TEST_F(EtcdRegistryTest, ALeaseThatIsGoneIsMendedByItsOwner) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  const auto view = b->join(member_named("b"), running("nxr"));
  ASSERT_TRUE(view);
  a->look_again();
  // As etcd does to the innocent after a change of its leader.
  const auto leases = gateway_.post("lease/leases", Json());
  ASSERT_TRUE(leases);
  for (const auto& each : leases->body.at("leases").as_array())
    ASSERT_TRUE(gateway_.post("lease/revoke", Json().add("ID", each.at("ID").as_string().c_str())));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(keep(*a), "a b @ 2");
    EXPECT_EQ(keep(*b), "a b @ 2");
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_FALSE(a->is_dead(view->members[1].id));
}

// Authority counts from when the proof was sent, and only an answer that lists the member extends
// it.
TEST_F(EtcdRegistryTest, ActsForItsUsersForAWhileWithoutEtcd) {
  auto a = make();
  EXPECT_EQ(a->authority_until(), 0ns);
  const auto before = boot_clock();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  EXPECT_GE(a->authority_until(), before + 3s);
  EXPECT_LE(a->authority_until(), boot_clock() + 3s);
  etcd_.stop();
  const auto until = a->authority_until();
  std::this_thread::sleep_for(150ms);
  const auto asked = boot_clock();
  EXPECT_THAT(summary(a->current()), HasSubstr("unavailable: etcd: "));
  EXPECT_LT(boot_clock() - asked, 3s) << "it does not wait for ever";
  EXPECT_EQ(a->authority_until(), until);
  etcd_.go_on();
  EXPECT_TRUE(eventually([&] { return summary(a->current()) == "a @ 1"; }));
  EXPECT_GT(a->authority_until(), until);
}

// A proof goes through the log and writes nothing.
TEST_F(EtcdRegistryTest, ProofsLeaveNoHistory) {
  auto a = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  const auto applied = [&] {
    const auto status = gateway_.post("maintenance/status", Json());
    return std::stoll(status->body.at("raftIndex").as_string().c_str());
  };
  const auto revision_before = revision();
  const auto applied_before = applied();
  for (int i = 0; i < 10; ++i) {
    a->look_again();
    EXPECT_EQ(summary(a->current()), "a @ 1");
  }
  EXPECT_EQ(revision(), revision_before);
  EXPECT_GE(applied() - applied_before, 10);
}

TEST_F(EtcdRegistryTest, ARestartOfEtcdChangesNothing) {
  auto a = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  etcd_.kill();
  std::this_thread::sleep_for(150ms);
  EXPECT_THAT(summary(a->current()), HasSubstr("unavailable: etcd: "));
  etcd_.start();
  EXPECT_TRUE(eventually([&] { return keep(*a) == "a @ 1"; }));
}

TEST_F(EtcdRegistryTest, EtcdThatForgotAllIsNoticed) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  etcd_.forget_all();
  ASSERT_TRUE(b->join(member_named("b"), running("nxr")));
  a->look_again();
  EXPECT_THAT(summary(a->current()), HasSubstr("lost: "));
}

TEST_F(EtcdRegistryTest, AViewThatWentBackIsNoticed) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  const auto first = written();
  ASSERT_TRUE(b->join(member_named("b"), running("nxr")));
  a->look_again();
  ASSERT_EQ(summary(a->current()), "a b @ 2");
  overwrite(to_text(first));
  a->look_again();
  EXPECT_THAT(summary(a->current()),
              HasSubstr("lost: etcd, /turno/test/: it went back from view 2 to view 1"));
}

TEST_F(EtcdRegistryTest, AnotherViewOfTheSameEpochIsNoticed) {
  auto a = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  auto other = written();
  other.members.push_back(member_named("b"));
  overwrite(to_text(other));
  a->look_again();
  EXPECT_THAT(summary(a->current()), HasSubstr("lost: etcd, /turno/test/: it has another view 1"));
}

TEST_F(EtcdRegistryTest, WhatIsNoViewIsAnErrorAndHarmsNoMember) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  const auto good = to_text(written());
  overwrite("garbage");
  a->look_again();
  EXPECT_THAT(summary(a->current()), HasSubstr("damaged: etcd, /turno/test/view: this is no view"));
  EXPECT_THAT(summary(b->join(member_named("b"), running("nxr"))), HasSubstr("damaged: "));
  overwrite(good);
  EXPECT_TRUE(eventually([&] { return keep(*a) == "a @ 1"; }));
}

TEST_F(EtcdRegistryTest, KeysOfOthersAreNobodysMembership) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  for (const auto* key : {"anything", "-1", "12x", "", "99999999999999999999999"})
    overwrite("x", std::string("/turno/test/member/") + key);
  ASSERT_TRUE(b->join(member_named("b"), running("nxr")));
  a->look_again();
  EXPECT_EQ(summary(a->current()), "a b @ 2");
}

TEST_F(EtcdRegistryTest, BumpsTheEpochAlsoIfOthersChangeIt) {
  auto a = make(), b = make();
  ASSERT_TRUE(a->join(member_named("a"), running("nxr")));
  EXPECT_EQ(summary(a->reconsider(true)), "a @ 2");
  ASSERT_TRUE(b->join(member_named("b"), running("nxr")));
  // It does not know that view yet; and that one is a new epoch.
  EXPECT_EQ(summary(a->reconsider(true)), "a b @ 3");
  EXPECT_EQ(summary(a->reconsider(false)), "a b @ 3");
}

TEST_F(EtcdRegistryTest, FencesBeginAtTheClock) {
  auto a =
      std::make_unique<EtcdRegistry>(EtcdAccess{.endpoints = {etcd_.endpoint()}}, "test", quick,
                                     [] { return std::int64_t{1'704'067'200'000 + 86'400'000}; });
  const auto view = a->join(member_named("a"), running("nxr"));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->fences_from + view->epoch, 86'400U * 16);
}

// Three of them, of which any one may be stopped or killed, also the leader.
TEST(EtcdRegistries, MembersLiveThroughTheLossOfAnEtcd) {
  const auto plan = Etcd::Plan::of(3);
  std::vector<std::unique_ptr<Etcd>> etcds;
  for (std::size_t i = 0; i < 3; ++i) etcds.push_back(std::make_unique<Etcd>(plan, i));
  EtcdAccess access{.patience = 500ms};
  for (const auto& etcd : etcds) {
    etcd->wait();
    access.endpoints.push_back(etcd->endpoint());
  }
  EtcdRegistry a(access, "test", quick), b(access, "test", quick);
  ASSERT_TRUE(a.join(member_named("a"), running("nxr")));
  ASSERT_TRUE(b.join(member_named("b"), running("nxr")));
  for (std::size_t i = 0; i < 3; ++i) {
    i == 1 ? etcds[i]->kill() : etcds[i]->stop();
    const auto until = a.authority_until();
    EXPECT_TRUE(eventually([&] { return a.current() && a.authority_until() > until + 1s; })) << i;
    EXPECT_TRUE(eventually([&] { return summary(b.current()) == "a b @ 2"; })) << i;
    i == 1 ? etcds[i]->start() : etcds[i]->go_on();
    etcds[i]->wait();
  }
}

}  // namespace
}  // namespace turno::registry

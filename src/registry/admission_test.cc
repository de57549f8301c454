#include "registry/admission.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

std::string refusal(const Expected<void>& result) {
  if (result) return "admitted";
  EXPECT_EQ(result.error().kind, Error::Kind::refused);
  return result.error().message;
}

TEST(Admission, TheFirstFixesTheSettings) {
  View view;
  ASSERT_TRUE(admit(member_named("a"), running("nxr"), view));
  EXPECT_EQ(view.algorithm, "nxr");
  EXPECT_EQ(view.lock_delay_ms, 250);
  EXPECT_EQ(view.idle_ms, 1000);
  EXPECT_NE(view.key, 0U);
  const auto fixed = view.key;
  ASSERT_TRUE(admit(member_named("b"), {.lock_delay_ms = 9, .idle_ms = 9}, view));
  EXPECT_EQ(view.key, fixed);
  EXPECT_EQ(view.lock_delay_ms, 250);
  ASSERT_TRUE(admit(member_named("c"), running("nxr"), view));
  EXPECT_EQ(view.members.back().name, "c");
}

TEST(Admission, TheFallbackCountsOnlyForTheFirst) {
  View view;
  EXPECT_EQ(refusal(admit(member_named("a"), {}, view)),
            "the first node of a cluster names its algorithm");
  ASSERT_TRUE(admit(member_named("a"), {.fallback_algorithm = "dir"}, view));
  EXPECT_EQ(view.algorithm, "dir");
  ASSERT_TRUE(admit(member_named("b"), {.fallback_algorithm = "nxr"}, view));
  EXPECT_EQ(view.algorithm, "dir");
}

TEST(Admission, RefusesAnotherAlgorithmASecondOfANameAndAnIdInUse) {
  View view;
  auto first = member_named("a");
  first.pid = 42;
  ASSERT_TRUE(admit(first, running("nxr"), view));
  EXPECT_EQ(
      refusal(admit(member_named("b"), running("dir"), view)),
      "this cluster runs 'nxr', not 'dir': leave the algorithm out, or stop all its nodes first");
  EXPECT_EQ(refusal(admit(member_named("a"), {}, view)),
            "a node named 'a' already runs in this cluster (pid 42): choose another name, or stop "
            "that one");
  auto twin = member_named("b");
  twin.id = first.id;
  EXPECT_NE(refusal(admit(twin, {}, view)).find("belongs to another member"), std::string::npos);
  EXPECT_EQ(view.size(), 1U);
}

TEST(Admission, RefusesWhoSpeaksAnotherVersion) {
  View view;
  ASSERT_TRUE(admit(member_named("a"), {.algorithm = "nxr", .wire = 3}, view));
  EXPECT_EQ(refusal(admit(member_named("b"), {.wire = 4}, view)),
            "the nodes of this cluster speak version 3 with each other, and this one version 4: "
            "start it with the same program as the others, or stop all of them first");
  ASSERT_TRUE(admit(member_named("b"), {.wire = 3}, view));
  view.members.clear();
  ASSERT_TRUE(admit(member_named("b"), {.algorithm = "nxr", .wire = 4}, view));
}

TEST(Admission, RefusesOneMoreThanAClusterHas) {
  View view;
  for (std::size_t i = 0; i < cluster::most_members; ++i)
    ASSERT_TRUE(admit(member_named(std::to_string(i)), running("nxr"), view));
  EXPECT_EQ(refusal(admit(member_named("one more"), {}, view)),
            "a cluster has at most 128 members");
  EXPECT_EQ(view.size(), cluster::most_members);
}

TEST(Admission, ChecksEveryValue) {
  const auto good = member_named("a");
  EXPECT_TRUE(check_candidate(good, running("nxr")));
  auto bad = good;
  bad.id = 0;
  EXPECT_FALSE(check_candidate(bad, {}));
  bad.id = std::uint64_t{1} << 63;
  EXPECT_FALSE(check_candidate(bad, {}));
  for (const auto& name : {std::string(), std::string(65, 'a'), std::string("a\nb"),
                           std::string("../x"), std::string("a b"), std::string("a/b"),
                           std::string(".a"), std::string("a\0b", 3), std::string("\x7f")}) {
    bad = good;
    bad.name = name;
    EXPECT_FALSE(check_candidate(bad, {})) << name;
  }
  for (auto address : {&Member::peer_address, &Member::client_address, &Member::client_socket,
                       &Member::http_address}) {
    bad = good;
    bad.*address = std::string(1025, 'a');
    EXPECT_FALSE(check_candidate(bad, {}));
    bad.*address = "a\r\nb";
    EXPECT_FALSE(check_candidate(bad, {}));
  }
  EXPECT_FALSE(check_candidate(good, {.algorithm = "\n"}));
  EXPECT_FALSE(check_candidate(good, {.fallback_algorithm = std::string(129, 'a')}));
  EXPECT_FALSE(check_candidate(good, {.lock_delay_ms = -1}));
  EXPECT_FALSE(check_candidate(good, {.idle_ms = -1}));
}

}  // namespace
}  // namespace turno::registry

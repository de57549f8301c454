#include "cluster/rendezvous.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace turno::cluster {
namespace {

View view_of(const std::vector<std::uint64_t>& ids) {
  View view;
  for (const auto id : ids) view.members.push_back({.id = id});
  return view;
}

View random_view(std::size_t size) {
  std::vector<std::uint64_t> ids(size);
  std::ranges::generate(ids, random_id);
  return view_of(ids);
}

std::uint64_t home_id(const std::string& lock, const View& view) {
  return view.members.at(home_of(lock, view).index()).id;
}

std::string lock_name(std::size_t number) { return "lock-" + std::to_string(number); }

TEST(Rendezvous, NobodyIsTheHomeInAnEmptyView) {
  EXPECT_EQ(home_of("a", View{}), nobody);
  EXPECT_EQ(Rendezvous().home_of("a"), nobody);
}

TEST(Rendezvous, TheOnlyMemberIsTheHomeOfEverything) {
  const auto view = view_of({7});
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(home_of(lock_name(i), view), NodeId(0));
}

// Nodes of different builds must agree: these values never change.
TEST(Rendezvous, HashesAreFixed) {
  EXPECT_EQ(hash_of_name(""), 0x71249c9f306ea781U);
  EXPECT_EQ(hash_of_name("printer"), 0xca486cba2f2bf5beU);
  EXPECT_EQ(hash_of_name("a name longer than one word"), 0x978c5628882bfec0U);
  EXPECT_EQ(rendezvous_weight(1, 2), 0x2a01741a30646798U);
}

TEST(Rendezvous, NamesThatDifferInTrailingZerosDiffer) {
  EXPECT_NE(hash_of_name("a"), hash_of_name(std::string("a\0", 2)));
  EXPECT_NE(hash_of_name(""), hash_of_name(std::string("\0", 1)));
}

TEST(Rendezvous, EveryMemberIsHomeOfItsShare) {
  constexpr std::size_t locks = 20'000;
  // Consecutive ids are the hardest for a weak hash.
  for (const auto& view : {view_of({1, 2, 3, 4, 5}), random_view(5), random_view(16)}) {
    std::vector<std::size_t> shares(view.size());
    for (std::size_t i = 0; i < locks; ++i) ++shares[home_of(lock_name(i), view).index()];
    const auto mean = static_cast<double>(locks) / static_cast<double>(view.size());
    for (const auto share : shares) {
      EXPECT_LT(std::abs(static_cast<double>(share) - mean), 6 * std::sqrt(mean));
    }
  }
}

TEST(Rendezvous, OnlyTheLocksOfTheLeavingMemberMove) {
  const auto before = random_view(7);
  auto after = before;
  after.members.erase(after.members.begin() + 3);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const auto home = home_id(lock_name(i), before);
    if (home == before.members[3].id) {
      ++moved;
    } else {
      EXPECT_EQ(home_id(lock_name(i), after), home);
    }
  }
  EXPECT_GT(moved, 1'000U);
  EXPECT_LT(moved, 2'000U);
}

TEST(Rendezvous, TheOrderOfMembersDoesNotMatter) {
  const auto view = random_view(9);
  auto turned = view;
  std::ranges::reverse(turned.members);
  for (std::size_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(home_id(lock_name(i), view), home_id(lock_name(i), turned));
  }
}

TEST(Rendezvous, ThePreparedFormAgrees) {
  const auto view = random_view(9);
  const Rendezvous prepared(view);
  for (std::size_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(prepared.home_of(lock_name(i)), home_of(lock_name(i), view));
  }
}

TEST(View, FindsMembers) {
  View view = view_of({5, 9});
  view.members[1].name = "b";
  EXPECT_EQ(view.index_of(9), NodeId(1));
  EXPECT_EQ(view.index_of(6), nobody);
  EXPECT_EQ(view.find("b"), &view.members[1]);
  EXPECT_EQ(view.find("c"), nullptr);
  EXPECT_EQ(view.find(std::uint64_t{5}), &view.members[0]);
  EXPECT_EQ(view.find(std::uint64_t{6}), nullptr);
}

TEST(View, ACrashInAMissedViewIsStillSeen) {
  const View view{.epoch = 8, .crashed = false, .last_crash = 7};
  EXPECT_TRUE(view.crashed_since(6));
  EXPECT_FALSE(view.crashed_since(7));
}

TEST(RandomId, IsNeverZeroAndFitsSignedColumns) {
  for (int i = 0; i < 1'000; ++i) {
    const auto id = random_id();
    EXPECT_NE(id, 0U);
    EXPECT_LT(id, std::uint64_t{1} << 63);
  }
}

}  // namespace
}  // namespace turno::cluster

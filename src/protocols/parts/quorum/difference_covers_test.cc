#include "protocols/parts/quorum/difference_covers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include "protocols/parts/quorum/constructions.h"
#include "protocols/parts/quorum/cover_search.h"
#include "protocols/parts/quorum/projective_plane.h"

namespace turno::protocols {
namespace {

using Answer = CoverSearch::Answer;

TEST(IsCover, MeansThatEveryResidueIsADifference) {
  EXPECT_TRUE(is_cover({0, 1, 3}, 7));
  EXPECT_FALSE(is_cover({0, 1, 2}, 7));
  EXPECT_TRUE(is_cover({0}, 1));
}

TEST(ClosedFormCover, CoversAndIsNotMuchLargerThanTheRootOfTwiceN) {
  for (std::size_t n = 2; n <= 1000; ++n) {
    const auto cover = closed_form_cover(n);
    ASSERT_TRUE(is_cover(cover, n)) << n;
    EXPECT_LE(static_cast<double>(cover.size()),
              1.061 * std::sqrt(2 * static_cast<double>(n)) + 1e-9)
        << n;
  }
}

TEST(Table, CoversForEveryN) {
  for (std::size_t n = 1; n <= largest_tabled; ++n) {
    const auto [cover, minimal] = tabled_cover(n);
    EXPECT_TRUE(is_cover(cover, n)) << n;
    EXPECT_TRUE(std::is_sorted(cover.begin(), cover.end())) << n;
    EXPECT_GE(cover.size(), smallest_possible_size(n)) << n;
    EXPECT_TRUE(minimal || cover.size() > smallest_possible_size(n)) << n;
  }
}

// What the table calls minimal is proved again where that takes a moment.
TEST(Table, IsMinimalWhereItSaysSo) {
  for (std::size_t n = 4; n <= 51; ++n) {
    const auto [cover, minimal] = tabled_cover(n);
    EXPECT_TRUE(minimal) << n;
    if (cover.size() == smallest_possible_size(n)) continue;
    EXPECT_EQ(search_cover(n, cover.size() - 1).answer, Answer::none) << n;
  }
}

TEST(SearchCover, FindsWhatThereIs) {
  for (std::size_t n = 2; n <= 40; ++n) {
    const auto k = tabled_cover(n).cover.size();
    const auto search = search_cover(n, k);
    ASSERT_EQ(search.answer, Answer::found) << n;
    EXPECT_TRUE(is_cover(search.cover, n)) << n;
    EXPECT_LE(search.cover.size(), k);
  }
  EXPECT_EQ(search_cover(66, 9, 1000).answer, Answer::gave_up);
}

// The dumb twin: all sets, without any symmetry.
bool there_is_a_cover(std::size_t n, std::size_t k, Cover members = {0}) {
  if (members.size() == k) return is_cover(members, n);
  for (auto x = members.back() + 1; x < n; ++x) {
    members.push_back(x);
    if (there_is_a_cover(n, k, members)) return true;
    members.pop_back();
  }
  return false;
}

TEST(SearchCover, AgreesWithTryingEverything) {
  for (std::size_t n = 5; n <= 16; ++n)
    for (std::size_t k = 2; k <= 4; ++k)
      EXPECT_EQ(search_cover(n, k).answer == Answer::found, there_is_a_cover(n, k))
          << n << " " << k;
}

TEST(AnnealCover, FindsCovers) {
  Random random(1);
  const auto cover = anneal_cover(40, 9, 100'000, random);
  ASSERT_TRUE(cover);
  EXPECT_TRUE(is_cover(*cover, 40));
  EXPECT_EQ(anneal_cover(40, 6, 1'000, random), std::nullopt);
}

TEST(CanonicalCover, IsTheSameForAllThatAreAlike) {
  const Cover fano = {0, 1, 3};
  EXPECT_EQ(canonical_cover({0, 1, 5}, 7), fano);
  EXPECT_EQ(canonical_cover({2, 3, 5}, 7), fano);
  EXPECT_EQ(canonical_cover({0, 2, 6}, 7), fano);
}

TEST(Planes, AreOfPrimePowerOrder) {
  const std::vector<std::size_t> powers = {2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27};
  for (std::size_t q = 0; q <= 28; ++q)
    EXPECT_EQ(prime_of_power(q).has_value(),
              std::find(powers.begin(), powers.end(), q) != powers.end())
        << q;
  EXPECT_EQ(prime_of_power(27), 3U);
  EXPECT_EQ(plane_order(3), 1U);
  EXPECT_EQ(plane_order(91), 9U);
  EXPECT_EQ(plane_order(43), std::nullopt);
  EXPECT_EQ(plane_order(1), std::nullopt);
}

// Two lines of a plane share exactly one point: every difference but 0 occurs exactly once.
TEST(Planes, BySinger) {
  EXPECT_EQ(singer_cover(3), (Cover{0, 1}));
  EXPECT_EQ(singer_cover(7), (Cover{0, 1, 3}));
  for (std::size_t q = 1; q <= 25; ++q) {
    const auto n = q * q + q + 1;
    if (!plane_order(n)) continue;
    const auto cover = singer_cover(n);
    EXPECT_EQ(cover.size(), q + 1) << q;
    EXPECT_EQ(cover[0], 0U) << q;
    EXPECT_EQ(cover[1], 1U) << q;
    EXPECT_TRUE(is_cover(cover, n)) << q;
  }
}

// The table in the manual is the one of the program. TURNO_REWRITE=1 writes it.
std::string manual_row(std::size_t n) {
  const auto [cover, minimal] = tabled_cover(n);
  const auto size = [&](QuorumConstruction construction) {
    if (!possible(construction, n)) return std::string("-");
    const auto shape = shape_of(quorums(construction, n));
    return (shape.smallest == shape.largest ? "" : std::to_string(shape.smallest) + "-") +
           std::to_string(shape.largest);
  };
  std::ostringstream row;
  row << "| " << n << " | " << smallest_possible_size(n) << " | " << cover.size()
      << (minimal ? "" : " ?") << " |";
  for (std::size_t i = 0; i < cover.size(); ++i) row << " " << cover[i];
  row << " | " << size(QuorumConstruction::projective) << " | "
      << size(QuorumConstruction::closed_form) << " | " << size(QuorumConstruction::grid) << " | "
      << size(QuorumConstruction::majority) << " |\n";
  return row.str();
}

TEST(Table, InTheManualIsThis) {
  const std::string path = TURNO_SOURCE_DIR "/docs/quorums.md";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto begin = text.str().find("| 1 | 1 |");
  ASSERT_NE(begin, std::string::npos) << path;
  std::string rows;
  for (std::size_t n = 1; n <= largest_tabled; ++n) rows += manual_row(n);
  if (std::getenv("TURNO_REWRITE") != nullptr)
    std::ofstream(path) << text.str().substr(0, begin) << rows;
  else
    EXPECT_EQ(text.str().substr(begin), rows);
}

}  // namespace
}  // namespace turno::protocols

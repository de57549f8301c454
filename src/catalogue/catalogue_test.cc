#include "catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <set>

namespace turno {
namespace {

TEST(Catalogue, EveryAlgorithmHasANameOfItsOwnAndCanBeRun) {
  std::set<std::string_view> names;
  for (const auto& algorithm : algorithms()) {
    EXPECT_TRUE(names.insert(algorithm.info.name).second) << algorithm.info.name;
    EXPECT_EQ(find_algorithm(algorithm.info.name), &algorithm);
    EXPECT_NE(algorithm.check, nullptr) << algorithm.info.name;
    EXPECT_NE(algorithm.simulate, nullptr) << algorithm.info.name;
  }
  EXPECT_EQ(find_algorithm("nonsense"), nullptr);
}

TEST(Catalogue, TheLocksComeFirst) {
  ASSERT_EQ(locks().size(), 14);
  for (const auto& lock : locks()) {
    EXPECT_EQ(lock.info.primitive, Primitive::lock);
    EXPECT_EQ(find_lock(lock.info.name), &lock);
  }
}

TEST(Catalogue, EveryReadingSaysWhatIsWrongWithIt) {
  for (const auto& wrong : refutable()) {
    const auto& departure = *wrong.departure;
    EXPECT_FALSE(departure.name.empty() || departure.flaw.empty() || departure.example.empty())
        << wrong.algorithm->info.name << " " << departure.name;
    EXPECT_NE(wrong.algorithm->check, nullptr);
    EXPECT_NE(find_algorithm(wrong.algorithm->info.name), nullptr)
        << "as published, of an algorithm that is not there: " << wrong.algorithm->info.name;
  }
}

}  // namespace
}  // namespace turno

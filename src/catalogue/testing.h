// What the explorations of the catalogue have in common.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"

namespace turno::testing {

// make check-deep: also what takes minutes.
inline bool deep() { return std::getenv("TURNO_DEEP") != nullptr; }

// Of a test with parameters: letters, digits and underlines only, and different for each.
inline std::string test_name(std::initializer_list<std::string_view> words, std::size_t index) {
  std::string name;
  for (auto word : words) name.append(word).append("_");
  name.append(std::to_string(index));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

inline const Refutable* find_departure(std::string_view algorithm, std::string_view departure) {
  static const auto all = refutable();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Refutable& wrong) {
    return wrong.algorithm->info.name == algorithm && wrong.departure->name == departure;
  });
  return found == all.end() ? nullptr : &*found;
}

inline std::string shown(const check::Result& result) {
  return result.property + ": " + result.explanation + "\n" + conversation(result.trace);
}

// By a shortest trace of so many steps; starvation: by a cycle of so many.
inline void expect_refuted(const Refutable& wrong, check::Options options,
                           std::string_view property, std::size_t steps) {
  options.setup.departure = wrong.number;
  options.property = property;
  const auto result = wrong.algorithm->check(options);
  EXPECT_EQ(result.verdict, check::Verdict::violated);
  EXPECT_EQ(result.property, property) << result.explanation;
  EXPECT_EQ(result.trace.size() - (options.forever ? result.cycle_from : 0), steps)
      << shown(result);
}

// Each departure of the algorithms that `belongs` chooses is among `refutations`, which name an
// algorithm and a departure.
template <class Refutations, class Belongs>
void expect_all_refuted(const Refutations& refutations, Belongs belongs) {
  std::size_t departures = 0;
  for (const auto& wrong : refutable()) {
    const auto& info = wrong.algorithm->info;
    if (!belongs(info)) continue;
    ++departures;
    EXPECT_TRUE(std::any_of(std::begin(refutations), std::end(refutations),
                            [&](const auto& refutation) {
                              return refutation.algorithm == info.name &&
                                     refutation.departure == wrong.departure->name;
                            }))
        << info.name << " " << wrong.departure->name;
  }
  EXPECT_GT(departures, 0U);
}

}  // namespace turno::testing

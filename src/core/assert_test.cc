#include "core/assert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/container/small_vector.hpp>
#include <thread>

namespace turno {
namespace {

using ::testing::HasSubstr;

TEST(AssertDeathTest, SaysWhatMustBeTrueAndWhere) {
  const int lights = 4;
  TURNO_ASSERT(lights == 4);
  EXPECT_DEATH(TURNO_ASSERT(lights == 5),
               "turno: .*assert_test.cc:[0-9]+: this must be true and is not: lights == 5");
}

TEST(AssertDeathTest, HearsOfWhatBoostAsserts) {
  boost::container::small_vector<int, 2> few = {1};
  EXPECT_DEATH(few.erase(few.end()), "turno: .*vector.hpp:[0-9]+: this must be true");
  EXPECT_DEATH(few[few.size()] = 2, "turno: .*vector.hpp:[0-9]+: this must be true");
}

TEST(PeerInput, MakesAFailureTheMessagesFault) {
  const int lights = 4;
  const PeerInput input;
  EXPECT_NO_THROW(TURNO_ASSERT(lights == 4));
  try {
    TURNO_ASSERT(lights == 5);
    FAIL();
  } catch (const Impossible& impossible) {
    EXPECT_THAT(impossible.what(), HasSubstr("assert_test.cc"));
    EXPECT_THAT(impossible.what(), HasSubstr("lights == 5"));
  }
  boost::container::small_vector<int, 2> few = {1};
  EXPECT_THROW(few.erase(few.end()), Impossible);
}

TEST(PeerInputDeathTest, IsOfOneThreadAndNests) {
  {
    const PeerInput outer;
    { const PeerInput inner; }
    EXPECT_THROW(TURNO_ASSERT(false), Impossible);
    EXPECT_DEATH(std::thread([] { TURNO_ASSERT(false); }).join(), "this must be true and is not");
  }
  EXPECT_DEATH(TURNO_ASSERT(false), "this must be true and is not");
}

}  // namespace
}  // namespace turno

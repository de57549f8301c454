#include "core/assert.h"

#include <gtest/gtest.h>

namespace turno {
namespace {

TEST(AssertDeathTest, SaysWhatMustBeTrueAndWhere) {
  const int lights = 4;
  TURNO_ASSERT(lights == 4);
  EXPECT_DEATH(TURNO_ASSERT(lights == 5),
               "turno: .*assert_test.cc:[0-9]+: this must be true and is not: lights == 5");
}

}  // namespace
}  // namespace turno

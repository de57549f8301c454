#include "registry/etcd/view_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

using ::testing::HasSubstr;

View example() {
  View view{.epoch = 7, .fences_from = std::uint64_t{1} << 34};
  view.members = {member_named("a"), member_named("b")};
  view.members[0].client_address = "127.0.0.1:7001";
  view.members[1].pid = 4711;
  view.algorithm = "nxr-bh";
  view.allocator = "brokered";
  view.wire = 9;
  view.key = (std::uint64_t{1} << 63) - 1;
  view.lock_delay_ms = 1000;
  view.idle_ms = 60'000;
  view.authority_ms = 15'000;
  view.crashed = true;
  view.last_crash = view.last_unproven = 7;
  view.casualties = {{.id = 5, .name = "c", .pid = 12, .epoch = 7, .at_ms = 1'700'000'000'000}};
  return view;
}

TEST(ViewText, BringsBackTheView) {
  const auto view = example();
  EXPECT_EQ(view_from_text(to_text(view)), view);
}

TEST(ViewText, MayHaveFieldsOfLaterVersions) {
  const auto view = example();
  auto text = to_text(view);
  text.insert(1, R"("later":[1,2],)");
  EXPECT_EQ(view_from_text(text), view);
}

// Whatever is changed in it: an error or a view, never the end of the process.
TEST(ViewText, IsNotAnything) {
  const auto text = to_text(example());
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(view_from_text(text.substr(0, i))) << i;
    for (const char c : {'"', '0', '-', '{', ']', 'x'}) {
      auto other = text;
      other[i] = c;
      const auto view = view_from_text(other);
      EXPECT_TRUE(view || view.error().kind == Error::Kind::damaged) << other;
    }
  }
  EXPECT_THAT(view_from_text("[]").error().message, HasSubstr("this is no view"));
  auto twice = example();
  twice.members[1].name = "a";
  EXPECT_THAT(view_from_text(to_text(twice)).error().message, HasSubstr("name of a member"));
  auto same = example();
  same.members[1].id = same.members[0].id;
  EXPECT_THAT(view_from_text(to_text(same)).error().message, HasSubstr("id of a member"));
}

}  // namespace
}  // namespace turno::registry

#include "cli/configuration/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "registry/registry_testing.h"

namespace turno::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto parsed = parse_configuration(text, "t.toml");
  return parsed ? "" : parsed.error();
}

TEST(Configuration, DeclaresSemaphoresByNameAndByBeginning) {
  const auto parsed = parse_configuration(
      "# how many\n"
      "[semaphores.gpu]\n"
      "permits = 4\n"
      "[semaphores.\"build-*\"]\n"
      "permits = 65_535\n"
      "[semaphores]\n"
      "licence = { permits = 1 }\n",
      "/etc/t.toml");
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->size(), 3U);
  EXPECT_EQ(parsed->semaphore("gpu")->permits, 4U);
  EXPECT_EQ(parsed->semaphore("gpu")->where, "semaphores.gpu, /etc/t.toml:2:13");
  EXPECT_EQ(parsed->semaphore("build-7")->permits, 65'535U);
  EXPECT_EQ(parsed->semaphore("licence")->permits, 1U);
  EXPECT_EQ(parsed->semaphore("other"), nullptr);
  EXPECT_EQ(parse_configuration("", "t")->size(), 0U);
}

TEST(Configuration, SaysWhereItIsWrong) {
  EXPECT_EQ(error_of("[semaphore.gpu]\npermits = 4\n"),
            "t.toml:1:2: 'semaphore' is not known here; did you mean semaphores?");
  EXPECT_EQ(error_of("x = 1\n"),
            "t.toml:1:1: 'x' is not known here; there are deadlock, locks, semaphores, elections, "
            "rooms, resources");
  EXPECT_EQ(error_of("semaphores = 3\n"), "t.toml:1:1: semaphores is a table: [semaphores.NAME]");
  EXPECT_EQ(error_of("[semaphores]\ngpu = 4\n"),
            "t.toml:2:1: a semaphore is a table: [semaphores.gpu]");
  EXPECT_EQ(error_of("[semaphores.gpu]\n  permit = 4\n"),
            "t.toml:2:3: 'permit' is not known here; did you mean permits?");
  EXPECT_EQ(error_of("[semaphores.gpu]\n"),
            "t.toml:1:13: semaphores.gpu does not say how many permits it has: permits = 4");
  for (const auto* wrong : {"0", "65536", "-1", "\"4\"", "4.0"})
    EXPECT_EQ(error_of(std::string("[semaphores.gpu]\npermits = ") + wrong + "\n"),
              "t.toml:2:11: permits is a number from 1 to 65535")
        << wrong;
  EXPECT_EQ(error_of("[semaphores.\"a*b\"]\npermits = 1\n"),
            "t.toml:1:13: a * stands at the end of a name, for whatever follows");
  EXPECT_THAT(error_of("[semaphores.gpu]\npermits = \n"), StartsWith("t.toml:2:"));
  EXPECT_THAT(error_of("[semaphores.gpu]\npermits=1\n[semaphores.gpu]\npermits=1\n"),
              StartsWith("t.toml:3:"))
      << "twice";
}

TEST(Configuration, DeclaresResources) {
  const auto parsed = parse_configuration(
      "[resources]\n"
      "gpu = { instances = 8 }\n"
      "\"licence-*\" = { instances = 1024 }\n",
      "t.toml");
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->resources(), 2U);
  EXPECT_EQ(parsed->resource("gpu")->instances, 8U);
  EXPECT_EQ(parsed->resource("gpu")->where, "resources.gpu, t.toml:2:1");
  EXPECT_EQ(parsed->resource("licence-a")->instances, 1024U);
  EXPECT_EQ(parsed->resource("tape"), nullptr);
  EXPECT_EQ(error_of("[resources.gpu]\npermits = 8\n"),
            "t.toml:2:1: 'permits' is not known here; there are instances, deadlock, rank");
  for (const auto* name : {"a b", "a:b", "a/b", "a,b"})
    EXPECT_EQ(error_of("[resources.\"" + std::string(name) + "\"]\ninstances = 1\n"),
              "t.toml:1:12: a type's name has no blanks, commas, colons or slashes");
  EXPECT_EQ(error_of("[resources.gpu]\ninstances = 1025\n"),
            "t.toml:2:13: instances is a number from 1 to 1024");
  EXPECT_EQ(error_of("[resources.gpu]\n"),
            "t.toml:1:12: resources.gpu does not say how many instances it has: instances = 4");
}

TEST(Configuration, SaysWhatIsDoneAboutDeadlocks) {
  using port::DeadlockPolicy;
  using table::Thing;
  const auto parsed = parse_configuration(
      "deadlock = \"abort\"\n"
      "[locks.\"disk-*\"]\n"
      "rank = 1\n"
      "[locks.\"tape-*\"]\n"
      "rank = 2\n"
      "deadlock = \"ordered\"\n"
      "[semaphores.gpu]\n"
      "deadlock = \"collective\"\n"
      "[elections.boss]\n"
      "deadlock = \"detect\"\n"
      "[rooms.hall]\n"
      "deadlock = \"ordered\"\n",
      "t.toml");
  ASSERT_TRUE(parsed) << parsed.error();
  const auto rule = [&](Thing thing, std::string_view name) {
    return parsed->deadlock_rule(thing, name);
  };
  EXPECT_EQ(rule(Thing::lock, "other").policy, DeadlockPolicy::abort);
  EXPECT_EQ(rule(Thing::lock, "disk-1").policy, DeadlockPolicy::ordered);
  EXPECT_EQ(rule(Thing::lock, "disk-1").rank, 1U);
  EXPECT_EQ(rule(Thing::lock, "tape-1").rank, 2U);
  EXPECT_EQ(rule(Thing::semaphore, "gpu").policy, DeadlockPolicy::collective);
  EXPECT_EQ(parsed->semaphore("gpu"), nullptr) << "how many permits is not said";
  EXPECT_EQ(rule(Thing::election, "boss").policy, DeadlockPolicy::detect);
  EXPECT_EQ(rule(Thing::room, "hall").policy, DeadlockPolicy::ordered);

  EXPECT_EQ(error_of("deadlock = \"pray\"\n"),
            "t.toml:1:12: deadlock is one of detect, abort, ordered, collective");
  EXPECT_EQ(error_of("[locks.a]\nrank = 1\ndeadlock = \"abort\"\n"),
            "t.toml:1:8: locks.a has a rank, which is for deadlock = \"ordered\"");
  EXPECT_EQ(error_of("[locks.a]\nrank = -1\n"), "t.toml:2:8: rank is a number from 0 to 1000000");
  EXPECT_EQ(error_of("[locks.a]\npermits = 1\n"),
            "t.toml:2:1: 'permits' is not known here; there are deadlock, rank");
  EXPECT_EQ(error_of("[elections]\na = 1\n"), "t.toml:2:1: an election is a table: [elections.a]");
}

TEST(Configuration, DeclaresGroupsOfRooms) {
  const auto parsed = parse_configuration(
      "[rooms.data.groups.write]\n"
      "capacity = 1\n"
      "[rooms.\"hall-*\".groups]\n"
      "\"team-*\" = { capacity = 20 }\n",
      "t.toml");
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->rooms(), 2U);
  EXPECT_EQ(parsed->group("data", "write")->capacity, 1U);
  EXPECT_EQ(parsed->group("data", "write")->where, "rooms.data.groups.write, t.toml:1:20");
  EXPECT_EQ(parsed->group("data", "read"), nullptr);
  EXPECT_EQ(parsed->group("hall-7", "team-a")->capacity, 20U);
  EXPECT_EQ(parsed->group("other", "write"), nullptr);
  EXPECT_EQ(error_of("[rooms.a]\n"), "t.toml:1:8: rooms.a says nothing: [rooms.a.groups.GROUP]");
  EXPECT_EQ(error_of("[rooms.a.groups.b]\n"),
            "t.toml:1:17: rooms.a.groups.b does not say how many may be inside: capacity = 1");
  EXPECT_EQ(error_of("[rooms.a.groups.b]\ncapacity = 0\n"),
            "t.toml:2:12: capacity is a number from 1 to 65535");
  EXPECT_EQ(error_of("[rooms.a.groups.b]\nsize = 1\n"),
            "t.toml:2:1: 'size' is not known here; there is capacity");
  EXPECT_EQ(error_of("[rooms.a.groups]\nb = 1\n"),
            "t.toml:2:1: a group is a table: [rooms.a.groups.b]");
  EXPECT_EQ(error_of("[rooms.a]\ngroups = 1\n"),
            "t.toml:2:1: groups is a table: [rooms.a.groups.GROUP]");
}

TEST(Configuration, OrdersResources) {
  using port::DeadlockPolicy;
  using table::Thing;
  const auto parsed = parse_configuration(
      "[resources.gpu]\n"
      "instances = 8\n"
      "rank = 3\n"
      "[resources.tape]\n"
      "deadlock = \"abort\"\n",
      "t.toml");
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->resource("gpu")->instances, 8U);
  EXPECT_EQ(parsed->deadlock_rule(Thing::store, "gpu").policy, DeadlockPolicy::ordered);
  EXPECT_EQ(parsed->deadlock_rule(Thing::store, "gpu").rank, 3U);
  EXPECT_EQ(parsed->deadlock_rule(Thing::store, "tape").policy, DeadlockPolicy::abort);
  EXPECT_EQ(parsed->resource("tape"), nullptr) << "how many is not said";
}

// What looks as if it could be declared, and cannot.
TEST(Configuration, SaysWhereAnAlgorithmIsChosen) {
  EXPECT_THAT(error_of("[locks.a]\nalgorithm = \"dir\"\n"),
              AllOf(StartsWith("t.toml:2:1: "), HasSubstr("turno up --algorithm")));
  EXPECT_THAT(error_of("algorithm = \"dir\"\n"), HasSubstr("turno up --algorithm"));
  EXPECT_THAT(error_of("[resources.a]\nalgorithm = \"grid\"\n"), HasSubstr("turno up --allocator"));
  EXPECT_THAT(error_of("[semaphores.a]\nalgorithm = \"robust-k\"\n"),
              HasSubstr("always have the same algorithm"));
  EXPECT_THAT(error_of("[rooms.a]\ndoor = \"leader\"\n"),
              HasSubstr("the door is the same for all rooms"));
}

TEST(Configuration, IsReadFromAFile) {
  const registry::TemporaryDirectory folder;
  const auto file = (folder.path() / "t.toml").string();
  EXPECT_THAT(read_configuration(file).error(), HasSubstr("cannot be read"));
  std::ofstream(file) << "";
  EXPECT_TRUE(read_configuration(file)) << "an empty one says nothing";
  std::ofstream(file) << "[semaphores.gpu]\npermits = 2\n";
  EXPECT_EQ(read_configuration(file)->semaphore("gpu")->permits, 2U);
  EXPECT_FALSE(read_configuration(folder.path())) << "a directory";
}

}  // namespace
}  // namespace turno::cli

#include "core/text/describe.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/clock/lamport_clock.h"
#include "core/container/queue.h"

namespace turno {
namespace {

struct Letter {
  enum class Kind : std::uint8_t { request, token } kind = Kind::request;
  NodeId node;
  bool urgent = false;
  std::uint32_t time = 0;
  std::vector<Priority> claims;
  NodeSet readers;
  Stamp stamp;
  Fence fence;
  static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
  static constexpr std::array<std::string_view, 8> labels = {
      "kind", "node", "urgent", "time", "claims", "readers", "stamp", "fence"};
  [[nodiscard]] auto fields() const {
    return std::tie(kind, node, urgent, time, claims, readers, stamp, fence);
  }
};

Letter full_letter() {
  Letter letter{.kind = Letter::Kind::token, .node = NodeId{2}, .urgent = true, .time = 7};
  letter.claims = {{1, NodeId{0}}, {4, NodeId{1}}};
  letter.readers.insert(NodeId{3});
  letter.readers.insert(NodeId{70});
  letter.stamp = Stamp{5};
  letter.fence = Fence::at(1, 6);
  return letter;
}

TEST(Describe, SaysValuesForPeople) {
  EXPECT_EQ(describe(true), "yes");
  EXPECT_EQ(describe(false), "no");
  EXPECT_EQ(describe(NodeId{3}), "3");
  EXPECT_EQ(describe(nobody), "-");
  EXPECT_EQ(describe(Stamp{8}), "8");
  EXPECT_EQ(describe(42U), "42");
  EXPECT_EQ(describe(Queue<NodeId>{NodeId{1}, NodeId{0}}), "[1 0]");
  EXPECT_EQ(describe(Queue<NodeId>{}), "[]");
  EXPECT_EQ(describe(NodeSet{}), "{}");
  EXPECT_EQ(describe(full_letter().readers), "{3 70}");
  EXPECT_EQ(describe(Priority{4, NodeId{1}}), "4:1");
  EXPECT_EQ(describe(full_letter().claims), "[1:0 4:1]");
}

TEST(Describe, LetsTheFirstEpochGoWithoutSaying) {
  EXPECT_EQ(describe(Fence::at(1, 12)), "12");
  EXPECT_EQ(describe(Fence::at(2, 12)), "2:12");
}

TEST(DescribeMessage, SaysOnlyWhatIsSet) {
  EXPECT_EQ(describe_message(Letter{}), "request");
  EXPECT_EQ(describe_message(Letter{.node = NodeId{0}}), "request(node 0)");
  EXPECT_EQ(
      describe_message(full_letter()),
      "token(node 2, urgent yes, time 7, claims [1:0 4:1], readers {3 70}, stamp 5, fence 6)");
}

TEST(JsonMessage, SaysOnlyWhatIsSet) {
  EXPECT_EQ(json_message(Letter{}), R"({"kind":"request"})");
  EXPECT_EQ(json_message(full_letter()),
            R"({"kind":"token","node":2,"urgent":true,"time":7,"claims":[[1,0],[4,1]],)"
            R"("readers":[3,70],"stamp":5,"fence":"268435462"})");
}

TEST(ToJson, SaysNobodyAsNull) {
  EXPECT_EQ(to_json(nobody), "null");
  EXPECT_EQ(to_json(false), "false");
  EXPECT_EQ(to_json(NodeSet{}), "[]");
  EXPECT_EQ(to_json(Queue<NodeId>{NodeId{1}, nobody}), "[1,null]");
}

TEST(DescribeState, SaysWhatIsNotAsAtTheStart) {
  EXPECT_EQ(describe_state(Letter{}), "as at the start");
  EXPECT_EQ(describe_state(Letter{.kind = Letter::Kind::token, .urgent = true}),
            "kind 1, urgent yes");
}

TEST(KindName, IsTheNameOfTheKind) {
  EXPECT_EQ(kind_name(Letter{}), "request");
  EXPECT_EQ(kind_name(full_letter()), "token");
}

}  // namespace
}  // namespace turno

// How a run is told to people and to programs.
#include "core/text/trace.h"

#include <gtest/gtest.h>

#include <array>

#include "core/node_ids_testing.h"

namespace turno {
namespace {

struct Postcard {
  enum class Kind : std::uint8_t { request, token } kind = Kind::request;
  Fence fence;
  static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
  static constexpr std::array<std::string_view, 2> labels = {"kind", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(kind, fence); }
};

const TraceMessage request = trace_message(b, a, Postcard{});
const TraceMessage token = trace_message(a, b, Postcard{Postcard::Kind::token, Fence::at(1, 3)});

TraceStep asks() {
  return {.time_ns = 10, .kind = TraceStep::Kind::request, .node = b, .sends = {request}};
}
TraceStep is_asked() {
  return {.time_ns = 20,
          .kind = TraceStep::Kind::receive,
          .node = a,
          .takes = {request},
          .sends = {token}};
}
TraceStep enters() {
  return {.time_ns = 30,
          .kind = TraceStep::Kind::receive,
          .node = b,
          .takes = {token},
          .entered = true,
          .fence = Fence::at(1, 4)};
}
TraceStep leaves() { return {.time_ns = 40, .kind = TraceStep::Kind::release, .node = b}; }

TEST(TraceMessage, HoldsBothForms) {
  EXPECT_EQ(token.from, a);
  EXPECT_EQ(token.to, b);
  EXPECT_EQ(token.text, "token(fence 3)");
  EXPECT_EQ(token.json, R"({"kind":"token","fence":"268435459"})");
}

TEST(Headline, SaysWhoDoesWhat) {
  EXPECT_EQ(headline({.kind = TraceStep::Kind::start, .node = a}), "0 starts");
  EXPECT_EQ(headline(asks()), "1 wants in");
  EXPECT_EQ(headline(is_asked()), "0 gets request from 1");
  EXPECT_EQ(headline(enters()), "1 gets token(fence 3) from 0");
  EXPECT_EQ(headline(leaves()), "1 leaves");
}

TEST(Conversation, TellsTheStepsAndTheirConsequences) {
  EXPECT_EQ(conversation({asks(), is_asked(), enters(), leaves()}),
            "  1. 1 wants in\n"
            "        1 -> 0 request\n"
            "  2. 0 gets request from 1\n"
            "        0 -> 1 token(fence 3)\n"
            "  3. 1 gets token(fence 3) from 0, enters (fence 4)\n"
            "  4. 1 leaves\n");
}

TEST(Conversation, AlignsItsNumbers) {
  const auto text = conversation(std::vector<TraceStep>(1000, leaves()));
  EXPECT_NE(text.find("  9. 1 leaves\n 10. 1 leaves\n"), std::string::npos);
  EXPECT_NE(text.find(" 99. 1 leaves\n100. 1 leaves\n"), std::string::npos);
  EXPECT_NE(text.find("999. 1 leaves\n1000. 1 leaves\n"), std::string::npos);
}

TEST(Conversation, OfNothingIsEmpty) { EXPECT_EQ(conversation({}), ""); }

TEST(JsonLine, TellsAStep) {
  EXPECT_EQ(
      json_line(asks()),
      R"({"time_ns":10,"event":"request","node":1,"sends":[{"to":0,"message":{"kind":"request"}}]})");
  EXPECT_EQ(json_line(is_asked()),
            R"({"time_ns":20,"event":"receive","node":0,"from":1,"message":{"kind":"request"},)"
            R"("sends":[{"to":1,"message":{"kind":"token","fence":"268435459"}}]})");
  EXPECT_EQ(json_line(enters()),
            R"({"time_ns":30,"event":"receive","node":1,"from":0,)"
            R"("message":{"kind":"token","fence":"268435459"},"enters":true,"fence":"268435460"})");
  EXPECT_EQ(json_line(leaves()), R"({"time_ns":40,"event":"release","node":1})");
  EXPECT_EQ(json_line({.kind = TraceStep::Kind::start, .node = a}),
            R"({"time_ns":0,"event":"start","node":0})");
}

}  // namespace
}  // namespace turno

#include "protocols/mutex/permission/maekawa_failed.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = MaekawaFailed::Kind;
using Message = MaekawaFailed::Message;

Message ask(std::uint64_t time) { return {.kind = Kind::request, .time = time}; }
Message failed(std::uint64_t time) { return {.kind = Kind::failed, .time = time}; }

MaekawaFailed arbiter() { return make<MaekawaFailed>(voting({"03", "13", "23", "3"}))[3]; }

TEST(MaekawaFailed, TellsWhoLosesToTheHolder) {
  auto node = arbiter();
  receive(node, n0, ask(1));
  EXPECT_EQ(receive(node, n1, ask(1)), effects<MaekawaFailed>({{n1, failed(1)}}));
}

TEST(MaekawaFailed, TellsWhoIsDisplacedFromTheHead) {
  auto node = arbiter();
  receive(node, n2, ask(1));
  EXPECT_EQ(receive(node, n1, ask(1)),
            effects<MaekawaFailed>({{n2, {.kind = Kind::recall, .time = 1}}}));
  EXPECT_EQ(receive(node, n0, ask(1)), effects<MaekawaFailed>({{n1, failed(1)}}))
      << "in 1985 it was not told";
}

// A vote that is asked back stays until it is known that the request cannot win now.
TEST(MaekawaFailed, YieldsOnlyWhenItCannotWin) {
  auto node = make<MaekawaFailed>(voting({"0123", "1", "2", "3"}))[0];
  request(node);
  receive(node, n1, {.kind = Kind::grant, .time = 1, .clock = 1});
  EXPECT_EQ(receive(node, n1, {.kind = Kind::recall, .time = 1}), nothing<MaekawaFailed>());
  EXPECT_EQ(receive(node, n2, failed(1)),
            effects<MaekawaFailed>({{n1, {.kind = Kind::yield, .time = 1}}}));
}

}  // namespace
}  // namespace turno::protocols

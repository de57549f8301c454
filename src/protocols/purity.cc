// All that any algorithm does, in one object file. A test reads which symbols this object needs
// from elsewhere and fails if one of them could do I/O, tell the time or draw a random number.
#include <array>

#include "core/protocol.h"
#include "protocols/list.h"

namespace turno::protocols {

namespace {

template <class P>
double live(P& node, const Setup& setup, NodeId self, std::span<const Holding> holdings,
            const Input<typename P::Message>& input, Effects<typename P::Message>& out,
            const Snapshot<P>& world, std::string_view& broken) {
  if (input.kind == Input<typename P::Message>::Kind::start)
    node = P::resume(setup, self, holdings);
  step(node, input, out);
  if constexpr (HasInvariants<P>) broken = P::broken_invariant(world);
  if constexpr (HasGoal<P>) broken = P::unmet_goal(world);
  if constexpr (requires { P::alone(setup); }) return P::alone(setup);
  return 0;
}

using Function = void (*)();

template <class... P>
std::array<Function, sizeof...(P)> lives_of(List<P...>) {
  return {reinterpret_cast<Function>(&live<P>)...};
}

}  // namespace

// Seen from outside, so that the compiler must keep all of it.
extern const std::array<Function, Algorithms::size> every_algorithm;
extern const std::array<Function, AsPublished::size> everything_printed;
const std::array<Function, Algorithms::size> every_algorithm = lives_of(Algorithms{});
const std::array<Function, AsPublished::size> everything_printed = lives_of(AsPublished{});

}  // namespace turno::protocols

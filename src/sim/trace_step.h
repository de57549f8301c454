// One event of a simulation as a step of its trace.
#pragma once

#include <cstdint>
#include <string>

#include "core/protocol.h"
#include "core/text/trace.h"

namespace turno::sim {

// `nodes` is how many there are.
template <Protocol P>
TraceStep trace_step(std::int64_t time_ns, NodeId node, const Input<typename P::Message>& input,
                     const Effects<typename P::Message>& out, std::size_t nodes) {
  using Kind = typename Input<typename P::Message>::Kind;
  TraceStep step{.time_ns = time_ns, .kind = input.kind, .node = node};
  if (input.kind == Kind::suspect) step.about = input.from;
  if constexpr (HasTimers<P>)
    if (input.kind == Kind::expire) step.detail = std::string(P::timers[input.number]);
  if (input.kind == Kind::receive)
    step.takes.push_back(trace_message(input.from, node, input.message));
  if (input.kind == Kind::bounce)
    step.takes.push_back(trace_message(node, input.from, input.message));
  out.for_each_send(node, nodes, [&](NodeId to, const auto& message) {
    if (to.index() < nodes) step.sends.push_back(trace_message(node, to, message));
  });
  step.entered = out.granted().has_value();
  if (step.entered) step.fence = *out.granted();
  step.units.assign(out.units().begin(), out.units().end());
  return step;
}

}  // namespace turno::sim

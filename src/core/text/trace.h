// One step of a run, as every driver writes it and every reader reads it. docs/trace.md is the
// schema.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fence.h"
#include "core/node_id.h"
#include "core/protocol.h"
#include "core/text/describe.h"

namespace turno {

struct TraceMessage {
  NodeId from, to;
  std::string text;  // token(fence 3)
  std::string json;  // {"kind":"token","fence":"3"}
};

struct TraceStep {
  using Kind = EventKind;
  std::int64_t time_ns = 0;  // the checker counts steps
  Kind kind = Kind::request;
  NodeId node;                      // who acts
  std::vector<TraceMessage> takes;  // the message received, if any
  std::vector<TraceMessage> sends;
  bool entered = false;
  Fence fence;              // if it entered
  std::vector<Unit> units;  // if it entered something that has several
  Wish wish;                // of a request
  NodeId about;             // who is suspected
  std::string detail;       // which timer, which choice
  std::string state;        // of the node after the step, as JSON, if it was asked for
};

template <class Message>
TraceMessage trace_message(NodeId from, NodeId to, const Message& message) {
  return {from, to, describe_message(message), json_message(message)};
}

// "2 gets token(fence 3) from 1", without what follows from it.
std::string headline(const TraceStep& step);
// The step and its consequences, several lines.
std::string conversation(const std::vector<TraceStep>& steps);
// One line of a trace file, without the line end.
std::string json_line(const TraceStep& step);

}  // namespace turno

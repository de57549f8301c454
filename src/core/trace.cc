#include "core/trace.h"

namespace turno {

namespace {

std::string number(NodeId node) { return node == nobody ? "nobody" : std::to_string(node.value); }

std::string arrow(const TraceMessage& message) {
  return number(message.from) + " -> " + number(message.to) + " " + message.text;
}

std::string json_messages(const std::vector<TraceMessage>& messages) {
  std::string text;
  for (const auto& message : messages)
    text += (text.empty() ? "" : ",") + std::string("{\"to\":") + to_json(message.to) +
            ",\"message\":" + message.json + "}";
  return "[" + text + "]";
}

}  // namespace

std::string headline(const TraceStep& step) {
  const auto who = number(step.node);
  switch (step.kind) {
    case TraceStep::Kind::start:
      return who + " starts";
    case TraceStep::Kind::request:
      return who + " wants in";
    case TraceStep::Kind::release:
      return who + " leaves";
    case TraceStep::Kind::crash:
      return who + " crashes";
    case TraceStep::Kind::join:
      return who + " joins";
    case TraceStep::Kind::view:
      return who + " learns of the new view";
    case TraceStep::Kind::retire:
      return who + " retires the lock";
    case TraceStep::Kind::receive:
      break;
  }
  return who + " gets " + step.takes.front().text + " from " + number(step.takes.front().from);
}

std::string conversation(const std::vector<TraceStep>& steps) {
  std::string text;
  std::size_t index = 0;
  for (const auto& step : steps) {
    auto line = std::to_string(++index) + ". ";
    line.insert(0, line.size() < 5 ? 5 - line.size() : 0, ' ');
    text += line + headline(step) +
            (step.entered ? ", enters (fence " + describe(step.fence) + ")" : "") + "\n";
    for (const auto& sent : step.sends) text += "        " + arrow(sent) + "\n";
  }
  return text;
}

std::string json_line(const TraceStep& step) {
  constexpr std::string_view names[] = {"start", "request", "release", "receive",
                                        "crash", "join",    "view",    "retire"};
  std::string text = "{\"time_ns\":" + std::to_string(step.time_ns) + ",\"event\":\"" +
                     std::string(names[static_cast<std::size_t>(step.kind)]) +
                     "\",\"node\":" + to_json(step.node);
  if (!step.takes.empty())
    text +=
        ",\"from\":" + to_json(step.takes.front().from) + ",\"message\":" + step.takes.front().json;
  if (!step.sends.empty()) text += ",\"sends\":" + json_messages(step.sends);
  if (step.entered) text += ",\"enters\":true,\"fence\":" + to_json(step.fence);
  return text + "}";
}

}  // namespace turno

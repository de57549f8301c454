#include "core/text/trace.h"

namespace turno {

namespace {

std::string number(NodeId node) { return node == nobody ? "nobody" : std::to_string(node.value); }

std::string arrow(const TraceMessage& message) {
  return number(message.from) + " -> " + number(message.to) + " " + message.text;
}

std::vector<Json> json_messages(const std::vector<TraceMessage>& messages) {
  std::vector<Json> all;
  all.reserve(messages.size());
  for (const auto& message : messages)
    all.push_back(Json().add_raw("to", to_json(message.to)).add_raw("message", message.json));
  return all;
}

std::string wanted(const Wish& wish) {
  std::string text;
  for (const auto& need : wish.needs)
    text += (text.empty() ? "" : ", ") + std::to_string(need.count) + " of type " +
            std::to_string(need.type);
  return text.empty() ? "in" : text;
}

std::vector<Json> json_needs(const std::vector<Need>& needs) {
  std::vector<Json> all;
  all.reserve(needs.size());
  for (const auto& need : needs)
    all.push_back(Json().add("type", need.type).add("count", need.count));
  return all;
}

std::vector<Json> json_units(const std::vector<Unit>& units) {
  std::vector<Json> all;
  all.reserve(units.size());
  for (const auto& unit : units)
    all.push_back(Json().add("unit", unit.number).add("fence", unit.fence));
  return all;
}

std::string entered_with(const TraceStep& step) {
  if (step.units.empty()) return "fence " + describe(step.fence);
  std::string text;
  for (const auto& unit : step.units)
    text += (text.empty() ? "" : ", ") + std::string("unit ") + std::to_string(unit.number) +
            " fence " + describe(unit.fence);
  return text;
}

}  // namespace

std::string headline(const TraceStep& step) {
  const auto who = number(step.node);
  switch (step.kind) {
    case TraceStep::Kind::start:
      return who + " starts";
    case TraceStep::Kind::request:
      return who + " wants " + wanted(step.wish);
    case TraceStep::Kind::release:
      return who + (step.detail.empty() ? " leaves" : " gives back " + step.detail);
    case TraceStep::Kind::crash:
      return who + " crashes";
    case TraceStep::Kind::join:
      return who + " joins";
    case TraceStep::Kind::view:
      return who + " learns of the new view";
    case TraceStep::Kind::retire:
      return who + " retires the lock";
    case TraceStep::Kind::spoil:
      return who + " is sent what cannot be";
    case TraceStep::Kind::lapse:
      return who + "'s user has had its time";
    case TraceStep::Kind::leave_late:
      return who + "'s user leaves, and does not know that its time was over";
    case TraceStep::Kind::move:
      return who + "'s user moves to another member";
    case TraceStep::Kind::expel:
      return who + " is dropped from the members, lives on, and does not know it";
    case TraceStep::Kind::stand_down:
      return who + "'s authority is over: it acts no more";
    case TraceStep::Kind::suspect:
      return who + " suspects " + number(step.about);
    case TraceStep::Kind::expire:
      return who + "'s timer '" + step.detail + "' expires";
    case TraceStep::Kind::recover:
      return who + " recovers";
    case TraceStep::Kind::withdraw:
      return who + " does not want to wait any more";
    case TraceStep::Kind::choose:
      return who + " chooses: " + step.detail;
    case TraceStep::Kind::lose:
      return "lost: " + arrow(step.takes.front());
    case TraceStep::Kind::repeat:
      return "doubled: " + arrow(step.takes.front());
    case TraceStep::Kind::bounce:
      return "comes back: " + arrow(step.takes.front());
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
    text += line + headline(step) + (step.entered ? ", enters (" + entered_with(step) + ")" : "") +
            "\n";
    for (const auto& sent : step.sends) text += "        " + arrow(sent) + "\n";
  }
  return text;
}

std::string json_line(const TraceStep& step) {
  constexpr std::string_view names[] = {
      "start",   "request",  "release",    "receive", "crash",  "join",       "view",    "retire",
      "spoil",   "lapse",    "leave-late", "move",    "expel",  "stand-down", "suspect", "expire",
      "recover", "withdraw", "choose",     "lose",    "repeat", "bounce"};
  Json json;
  json.add("time_ns", step.time_ns).add("event", names[static_cast<std::size_t>(step.kind)]);
  json.add_raw("node", to_json(step.node));
  if (!step.takes.empty()) {
    json.add_raw("from", to_json(step.takes.front().from));
    // Whose message it is says `from`; of others than its addressee also where it was going.
    if (step.kind != TraceStep::Kind::receive) json.add_raw("to", to_json(step.takes.front().to));
    json.add_raw("message", step.takes.front().json);
  }
  if (step.wish.group > 0) json.add("group", step.wish.group);
  if (!step.wish.needs.empty()) json.add("needs", json_needs(step.wish.needs));
  if (step.about != nobody) json.add_raw("about", to_json(step.about));
  if (!step.detail.empty()) json.add("detail", step.detail);
  if (!step.sends.empty()) json.add("sends", json_messages(step.sends));
  if (step.entered) json.add("enters", true).add("fence", step.fence);
  if (!step.units.empty()) json.add("units", json_units(step.units));
  if (!step.state.empty()) json.add_raw("state", step.state);
  return json.text();
}

}  // namespace turno

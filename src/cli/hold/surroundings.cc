#include "cli/hold/surroundings.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace turno::cli {

namespace {

std::string outer(const char* variable) {
  const auto* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

// Lines of TURNO_HELD: "lock NAME", "room NAME", of a store one for each type.
std::vector<std::string> lines_of(const HoldOptions& options, const Request& request) {
  const auto line = std::string(options.kind_name()) + " " + options.name;
  if (options.kind != Kind::store) return {line};
  std::vector<std::string> lines;
  for (const auto& claim : request.claims) lines.push_back(line + " " + claim.type);
  return lines;
}

// "gpu:0,gpu:3", or with their fences "gpu:0:390559366180864016,...".
std::string text_of(const std::vector<Resource>& resources, bool with_fences) {
  std::string text;
  for (const auto& each : resources)
    text += (text.empty() ? "" : ",") + each.type + ":" + std::to_string(each.number) +
            (with_fences ? ":" + std::to_string(each.fence) : "");
  return text;
}

std::string held_by(const Grant& grant, const HoldOptions& options) {
  Request request;
  for (const auto& each : grant.resources())
    if (std::ranges::none_of(request.claims,
                             [&](const auto& claim) { return claim.type == each.type; }))
      request.claims.push_back({each.type});
  auto text = outer("TURNO_HELD");
  for (const auto& line : lines_of(options, request)) text += line + "\n";
  return text;
}

}  // namespace

std::vector<std::string> environment_of(const Client& client, const Grant& grant,
                                        const HoldOptions& options) {
  const auto identity = client.identity();
  const std::string name(grant.name());
  std::vector<std::string> environment = {
      "TURNO_FENCE=" + std::to_string(grant.fence()), "TURNO_NODE=" + identity.node,
      "TURNO_SESSION=" + identity.session, "TURNO_HELD=" + held_by(grant, options)};
  if (options.kind == Kind::store) {
    environment.push_back("TURNO_STORE=" + name);
    environment.push_back("TURNO_RESOURCES=" + text_of(grant.resources(), false));
    environment.push_back("TURNO_RESOURCE_FENCES=" + text_of(grant.resources(), true));
    return environment;
  }
  if (options.kind == Kind::room) {
    environment.push_back("TURNO_ROOM=" + name);
    environment.push_back("TURNO_GROUP=" + options.group);
    return environment;
  }
  if (options.kind == Kind::election) {
    environment.push_back("TURNO_ELECTION=" + name);
    environment.push_back("TURNO_TERM=" + std::to_string(grant.fence()));
    return environment;
  }
  if (options.kind == Kind::lock) {
    environment.push_back("TURNO_LOCK=" + name);
    environment.push_back("TURNO_LOCKS=" + outer("TURNO_LOCKS") + name + "\n");
    return environment;
  }
  std::string slots;
  for (const auto permit : grant.permits())
    slots += (slots.empty() ? "" : ",") + std::to_string(permit);
  environment.push_back("TURNO_SEMAPHORE=" + name);
  environment.push_back("TURNO_SLOTS=" + slots);
  return environment;
}

std::string warning_of_itself(const HoldOptions& options, const Request& request) {
  std::istringstream held(outer("TURNO_HELD"));
  const auto wanted = lines_of(options, request);
  for (std::string line; std::getline(held, line);) {
    if (std::ranges::find(wanted, line) == wanted.end()) continue;
    const auto under = "this runs under " + std::string(options.kind_name()) + " '" + options.name +
                       "' already (TURNO_HELD): ";
    if (!options.many()) return under + "it waits for itself, unless that command ends first";
    return under + "if there is not enough for both, it waits for itself until that command ends";
  }
  return {};
}

}  // namespace turno::cli

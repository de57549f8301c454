// Who holds and who waits, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/ask_options.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/job.h"
#include "core/text/json.h"

namespace turno::cli {

struct ThingQuestion : AskOptions {
  std::string name, kind;  // any kind if it is empty
};

// The name that it gave itself, or that it has none; and where it is.
std::string named(const std::string& client);
std::string named(const std::string& client, const std::string& from);

// Several may have some of it, or be inside, at once.
bool several_have(std::string_view kind);
// Adds who has it: a holder, or what is known in its place.
void add_holder(Json& json, const Holder& holder);
// Of what several have: how much of it is in use, and by whom.
void add_holders(Json& json, const Holder& sum, const std::vector<PermitHolder>& holders);
std::vector<Json> list_of(const std::vector<WaitingClient>& waiters);
// What one of several has: "permits 0, 3", "gpu:0", "group red"; of a room nothing is known of
// those that are dead.
std::string share_of(const PermitHolder& who, std::string_view kind);
// "2 permits", "gpu:1", "group red"; empty: there is nothing to be said.
std::string wish_of(const WaitingClient& waiter);

// turno why.
int why(const ThingQuestion& options);

}  // namespace turno::cli

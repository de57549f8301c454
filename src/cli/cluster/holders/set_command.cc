// turno set: how many permits a semaphore has from now on.
#include <fmt/core.h>

#include <memory>

#include "cli/cluster/ask_options.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/readable.h"
#include "cluster/note.h"
#include "core/text/json.h"
#include "core/usage_error.h"

namespace turno::cli {

namespace {

struct Change : AskOptions {
  std::string name;
  std::uint32_t permits = 0;
};

int run(const Change& change) {
  using std::chrono::milliseconds;
  auto query = NodeQuery::reach(change.node, change.place());
  if (!query) return complain(query.error());
  const auto done = query->resize(change.name, change.permits, milliseconds(2500));
  if (!done) return complain(done.error());
  const auto who = query->who(change.name, "semaphore");
  if (!who) return complain(who.error());
  std::uint64_t beyond = 0;
  for (const auto& holder : who->holders)
    for (const auto permit : holder.permits) beyond += permit >= change.permits ? 1U : 0U;
  if (change.json) {
    fmt::print("{}\n", Json()
                           .add("semaphore", printable(change.name))
                           .add("permits", change.permits)
                           .add("beyond", beyond)
                           .add("complete", who->complete)
                           .text());
    return 0;
  }
  fmt::print("Semaphore '{}' has {} now.\n", printable(change.name),
             counted(change.permits, "permit"));
  if (beyond > 0)
    fmt::print("{}{} beyond that {} still in use; nobody gets {} again once released.\n",
               who->complete ? "" : "At least ", beyond, beyond == 1 ? "is" : "are",
               beyond == 1 ? "it" : "them");
  return 0;
}

}  // namespace

void add_set(Command app, Job& job) {
  auto command = app.add_subcommand("set", "Change the number of permits of a semaphore in use");
  auto change = std::make_shared<Change>();
  command.add_option("NAME", change->name, "The semaphore").required();
  command.add_option("-p,--permits", change->permits, "How many it has from now on").required();
  change->add_to(command);
  command.footer(
      "\nMore permits can be taken at once. If there are fewer, those with the highest numbers "
      "go:\n"
      "whoever has one keeps it, and nobody gets it again. It stays so as long as somebody uses "
      "the\n"
      "semaphore; what a configuration file declares is the number to begin with.\n"
      "\nExit status: 0; 125 Turno's own error, as when nobody uses it.\n"
      "\nExample:\n  turno set gpu --permits 8\n");
  command.callback([&job, change] {
    if (change->permits < 1 || change->permits > cluster::most_permits)
      throw UsageError(fmt::format("--permits is 1 to {}", cluster::most_permits));
    job = [change] { return run(*change); };
  });
}

}  // namespace turno::cli

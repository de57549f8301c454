#include "cli/lab/options/election_options.h"

#include "catalogue/system.h"
#include "cli/lab/options/workload_options.h"
#include "protocols/election/config.h"

namespace turno::cli {

using namespace protocols;

namespace {

bool is_election(const Algorithm& algorithm) {
  return algorithm.info.primitive == Primitive::election;
}

// Of the last crash or return.
sim::Time last_fault(const sim::Faults& faults) {
  sim::Time last = 0;
  for (const auto& crash : faults.crashes) last = std::max(last, crash.time);
  for (const auto& back : faults.recoveries) last = std::max(last, back.time);
  return last;
}

}  // namespace

void ElectionOptions::add_to(Command command) {
  command.add_option("--watchers", watchers,
                     "Elections: who notices that the coordinator is gone (default: all)");
}

void ElectionOptions::add_to_check(Command command) {
  command.add_flag("--asking", asking,
                   "Elections: nodes ask their coordinator whether it is there, as on a network "
                   "(default: they know when it is dead)");
}

void ElectionOptions::add_to_sim(Command command) {
  command.add_option("--ask-every", ask_every,
                     "Elections: how often a node asks its coordinator (default: 1s)");
  command.add_option("--answer-within", answer_within,
                     "Elections: how long a node waits for an answer (default: 500ms)");
  command.add_option("--finish-within", finish_within,
                     "Elections: how long it waits for a result, then it begins again (default: "
                     "5s)");
}

bool ElectionOptions::apply(const Algorithm& algorithm, Setup& setup) const {
  const bool given = asking || !watchers.empty() || !ask_every.empty() || !answer_within.empty() ||
                     !finish_within.empty();
  if (!is_election(algorithm)) {
    if (given)
      throw UsageError(std::string(algorithm.info.name) +
                       " elects nobody: --watchers, --ask-every and the like are for elections");
    return false;
  }
  auto& [patience, watching] = setup.configure<ElectionConfig>();
  if (!watchers.empty())
    for (auto node : parse_nodes(watchers, setup.size())) watching.insert(node);
  set_time(patience.answer_within_ns, "--answer-within", answer_within);
  set_time(patience.finish_within_ns, "--finish-within", finish_within);
  return true;
}

void ElectionOptions::apply(const Algorithm& algorithm, check::Options& options) const {
  if (!apply(algorithm, options.setup)) return;
  options.setup.configure<ElectionConfig>().patience.ask_every_ns = asking ? 1 : 0;
}

void ElectionOptions::apply(const Algorithm& algorithm, sim::Options& options) const {
  if (!apply(algorithm, options.setup)) return;
  auto& patience = options.setup.configure<ElectionConfig>().patience;
  patience.ask_every_ns = 1'000'000'000;
  set_time(patience.ask_every_ns, "--ask-every", ask_every);
  // They ask for ever: the run ends when there was time for everything.
  if (options.until == 0)
    options.until = last_fault(options.faults) + 2 * patience.ask_every_ns +
                    10 * patience.answer_within_ns + 4 * patience.finish_within_ns;
}

std::string ElectionOptions::text() const {
  return (watchers.empty() ? "" : ", watched by " + watchers) + (asking ? ", asking" : "");
}

void ElectionOptions::describe(const Algorithm& algorithm, Json& json) const {
  if (!is_election(algorithm)) return;
  if (!watchers.empty()) json.add("watchers", watchers);
  if (asking) json.add("asking", true);
  if (!ask_every.empty()) json.add("ask_every", ask_every);
  if (!answer_within.empty()) json.add("answer_within", answer_within);
  if (!finish_within.empty()) json.add("finish_within", finish_within);
}

}  // namespace turno::cli

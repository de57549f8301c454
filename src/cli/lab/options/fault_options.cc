#include "cli/lab/options/fault_options.h"

#include <array>
#include <string_view>

#include "catalogue/crashes.h"
#include "catalogue/system.h"

namespace turno::cli {

namespace {

struct Budget {
  std::string_view option, one, several;
  std::uint32_t amount;
  bool possible;
  std::string_view why_not;
};

// Every budget is a small number: what is explored grows with it by far too much otherwise.
constexpr std::uint32_t most = 100;

std::array<Budget, 7> list(const FaultBudget& given, const Abilities& can) {
  return {{{"--crashes", "crash", "crashes", given.crashes, can.crashes,
            "has no rule for crashes; on the network agreed views take care of them"},
           {"--recoveries", "recovery", "recoveries", given.recoveries, can.recoveries,
            "has no rule for nodes that come back"},
           {"--losses", "loss", "losses", given.losses, true, ""},
           {"--duplicates", "duplicate", "duplicates", given.duplicates, true, ""},
           {"--early-timeouts", "early timeout", "early timeouts", given.early_timeouts, can.timers,
            "has no timers"},
           {"--false-suspicions", "false suspicion", "false suspicions", given.false_suspicions,
            can.suspicions, "suspects nobody"},
           {"--withdrawals", "withdrawal", "withdrawals", given.withdrawals, can.withdrawals,
            "has no rule for users that give up waiting"}}};
}

constexpr Abilities all{true, true, true, true, true};

std::string json_name(std::string_view option) {
  std::string name(option.substr(2));
  for (auto& letter : name)
    if (letter == '-') letter = '_';
  return name;
}

}  // namespace

void FaultBudget::add_to(Command command) {
  command.add_option("--crashes", crashes, "How many nodes may crash, at any moment")
      .capture_default_str();
  command.add_option("--recoveries", recoveries, "How often a crashed node may come back")
      .capture_default_str();
  command.add_option("--losses", losses, "How many messages may be lost").capture_default_str();
  command.add_option("--duplicates", duplicates, "How many messages may be doubled")
      .capture_default_str();
  command
      .add_option("--early-timeouts", early_timeouts,
                  "How many timers may expire although what they wait for can still come")
      .capture_default_str();
  command
      .add_option("--false-suspicions", false_suspicions,
                  "How often a living node may be taken for dead by another")
      .capture_default_str();
  command.add_option("--withdrawals", withdrawals, "How often a user may give up waiting")
      .capture_default_str();
  command.add_option("--dead", dead, "Who has crashed before the start, as in 3 (default: nobody)");
  command.add_flag("--keep-sent", keep_sent,
                   "What a crashed node has sent always arrives (default: any of it may be lost)");
  command.add_flag("--staying", staying, "Who is inside need not leave: nobody may wait for that");
}

void FaultBudget::apply(const Algorithm& algorithm, std::uint64_t nodes,
                        check::Options& options) const {
  for (const auto& budget : list(*this, algorithm.abilities)) {
    if (budget.amount > 0 && !budget.possible)
      throw UsageError(std::string(algorithm.info.name) + " " + std::string(budget.why_not) +
                       ": leave " + std::string(budget.option) + " away");
    if (budget.amount > most)
      throw UsageError(std::string(budget.option) + " is 0 to " + std::to_string(most));
  }
  if (!dead.empty() && !algorithm.abilities.crashes)
    throw UsageError(std::string(algorithm.info.name) +
                     " has no rule for crashes: leave --dead away");
  if (recoveries > 0 && crashes == 0 && dead.empty())
    throw UsageError("nobody comes back without --crashes or --dead");
  if (!dead.empty())
    for (auto node : parse_nodes(dead, nodes)) options.dead.insert(node);
  options.faults = {.crashes = crashes,
                    .lost_with_sender = !keep_sent,
                    .recoveries = recoveries,
                    .losses = losses,
                    .duplicates = duplicates,
                    .early_timeouts = early_timeouts,
                    .false_suspicions = false_suspicions};
  options.withdrawals = withdrawals;
  options.staying = staying;
}

void FaultBudget::describe(Json& json) const {
  for (const auto& budget : list(*this, all))
    if (budget.amount > 0) json.add(json_name(budget.option), budget.amount);
  if (!dead.empty()) json.add("dead", dead);
  if (keep_sent) json.add("keep_sent", true);
  if (staying) json.add("staying", true);
}

std::string FaultBudget::text() const {
  std::string text;
  for (const auto& budget : list(*this, all))
    if (budget.amount > 0)
      text += ", up to " + std::to_string(budget.amount) + " " +
              std::string(budget.amount == 1 ? budget.one : budget.several);
  if (!dead.empty()) text.insert(0, ", dead from the start: " + dead);
  if (keep_sent) text += ", what was sent arrives";
  return text + (staying ? ", nobody needs to leave" : "");
}

void Calamities::add_to(Command command) {
  command.add_option("--crash", crash, "Who crashes and when, as in 5s:3,7.5s:0");
  command.add_option("--recover", recover, "Who comes back and when, as in 9s:3");
  command.add_option("--crash-every", crash_every,
                     "One crash every so often, in the order of --crash-order");
  command.add_option("--crash-order", crash_order, "Who crashes, as in 15..1 or 3,0,2");
}

void Calamities::apply(const Algorithm& algorithm, std::uint64_t nodes,
                       sim::Options& options) const {
  const bool any = !crash.empty() || !crash_every.empty() || !crash_order.empty();
  const std::string name(algorithm.info.name);
  if (any && !algorithm.abilities.crashes)
    throw UsageError(name + " has no rule for crashes: leave --crash away");
  if (!recover.empty() && !algorithm.abilities.recoveries)
    throw UsageError(name + " has no rule for nodes that come back: leave --recover away");
  if (crash_every.empty() != crash_order.empty())
    throw UsageError("--crash-every and --crash-order belong together");
  auto& faults = options.faults;
  faults.crashes = parse_moments(crash, nodes);
  if (!crash_every.empty()) {
    const auto every = sim::parse_duration(crash_every);
    for (const auto& next : crashes_in_order(every, crash_order, nodes))
      faults.crashes.push_back(next);
    if (options.interval == 0) options.interval = every;
  }
  faults.recoveries = parse_moments(recover, nodes);
  refuse_impossible(faults.crashes, faults.recoveries);
}

}  // namespace turno::cli

#include "cli/lab/options/reservation_options.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catalogue/resources.h"
#include "cli/frame/readable.h"
#include "protocols/allocation/config.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "sim/demands.h"
#include "sim/statistics.h"

namespace turno::cli {

using namespace protocols;

namespace {

bool is_reservation(const Algorithm& algorithm) {
  return algorithm.info.primitive == Primitive::reservation;
}

void refuse_if(bool given, const Algorithm& algorithm, const std::string& options,
               const std::string& why) {
  if (given)
    throw UsageError(std::string(algorithm.info.name) + " " + why + ": leave " + options + " away");
}

sim::Demands demands(const std::string& text, const Setup& setup) {
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  if (colon != std::string::npos && (kind == "half" || kind == "set" || kind == "fixed"))
    return sim::Demands::parse(text, setup);
  std::ifstream file(text);
  if (!file || std::filesystem::is_directory(text))
    throw UsageError("'" + text +
                     "' is no kind of demand (half:A-B, set:A-B, fixed: before them) and no file "
                     "that can be read");
  std::ostringstream content;
  content << file.rdbuf();
  try {
    return sim::Demands::parse_file(text, content.str(), setup);
  } catch (const std::invalid_argument& error) {
    throw UsageError(printable(error.what()));
  }
}

// What a request may ask for, if anything, grows with the product of all instances.
void refuse_too_many(const ResourceSetup& resources) {
  constexpr std::size_t most = 1000;
  std::vector<std::size_t> counts(resources.types());
  for (auto type : resources.type_of) ++counts[type];
  std::size_t demands = 1;
  for (auto count : counts) {
    demands *= count + 1;
    if (demands > most)
      throw UsageError(
          fmt::format("a request may ask for more than {} different things; say with "
                      "--needs what is asked for",
                      most));
  }
}

template <class Get>
double mean(const std::vector<sim::Result>& results, Get get) {
  double sum = 0;
  for (const auto& result : results) sum += static_cast<double>(get(result));
  return sum / static_cast<double>(results.size());
}

#define TURNO_MEAN(field) mean(results, [](const sim::Result& r) { return r.field; })

}  // namespace

void ReservationOptions::add_to(Command command) {
  command.add_option("--sites", sites,
                     "Which nodes are near: so many sites, or their sizes, as in 2,2,1");
  command.add_option("--preference", preference,
                     "bertier, grid: how often a site may serve its own while others wait "
                     "(default: 1)");
  command.add_option("--types", types, "Reservations: how many types of resources");
  command.add_option("--instances", instances,
                     "Reservations: instances of each type, or one number a type, as in 2,1");
  command.add_option("--frequent", frequent,
                     "grid: rather do not ask who has asked for a type so often in a row "
                     "(default: 0, not looked at)");
  command.add_option("--bypasses", bypasses,
                     "central-allocator, brokered: how often younger requests may overtake one");
}

void ReservationOptions::add_to_check(Command command) {
  command.add_option("--needs", needs,
                     "Reservations: what each node may ask for, one digit a type: 10/01,11 "
                     "(default: anything)");
  command.add_flag("--as-it-chooses", as_it_chooses,
                   "Reservations: only the instances that the algorithm chooses, not any");
}

void ReservationOptions::add_to_sim(Command command) {
  command.add_option("--demand", demand,
                     "Reservations: half:A-B (each type with probability one half, A to B of it), "
                     "set:A-B (so many types, one each), fixed:half:A-B (a node always asks for "
                     "the same), or a file, one line a request: NODE TYPE:COUNT ... "
                     "(default: half:1-1)");
  command.add_option("--local", local, "Sites: time of a message within a site (default: 1ms)");
  command.add_option("--remote", remote, "Sites: and between sites (default: 50ms)");
  command.add_flag("--deaf", deaf, "Who is inside reads no message until it leaves");
  command.add_option("--latency-on", latency_on,
                     "Sites: all, or control: only what is about the control token is slow between "
                     "sites (default: all)");
  command.add_flag("--printed-clocks", printed_clocks,
                   "Sites: measure with the logical clock of a thesis too, as printed");
  command.add_option("--entries-per-node", entries_per_node,
                     "Closed arrivals: every node enters so often, and the run ends");
}

void ReservationOptions::count_nodes(System& system, bool nodes_given) const {
  if (sites.find(',') == std::string::npos) return;
  const auto nodes = parse_sites(sites, system.nodes).size();
  if (nodes_given && nodes != system.nodes)
    throw UsageError(
        fmt::format("--sites {} has {} nodes, --nodes says {}", sites, nodes, system.nodes));
  system.nodes = nodes;
}

void ReservationOptions::apply(const Algorithm& algorithm, Setup& setup,
                               const std::string& default_instances) const {
  refuse_if(preference && (!algorithm.info.sites || algorithm.info.name == "brokered"), algorithm,
            "--preference", "prefers no site");
  refuse_if(frequent && algorithm.info.name != "grid", algorithm, "--frequent",
            "does not count who asks");
  refuse_if(!is_reservation(algorithm) && (types || !instances.empty() || bypasses), algorithm,
            "--types, --instances and --bypasses", "reserves no resources");
  const bool counts_bypasses =
      algorithm.info.name == "central-allocator" || algorithm.info.name == "brokered";
  refuse_if(bypasses && !counts_bypasses, algorithm, "--bypasses", "lets nobody overtake");
  if (!sites.empty()) setup.sites.of = parse_sites(sites, setup.size());
  setup.configure<SiteQueue::Config>().preference = preference.value_or(1);
  if (!is_reservation(algorithm)) return;
  setup.resources.type_of =
      parse_instances(types, instances.empty() ? default_instances : instances);
  auto& config = setup.configure<AllocationConfig>();
  config.frequent_after = frequent.value_or(0);
  if (bypasses) config.bypasses = *bypasses;
}

void ReservationOptions::apply(const Algorithm& algorithm, check::Options& options) const {
  refuse_if(!sites.empty() && !algorithm.info.sites, algorithm, "--sites", "does not know sites");
  refuse_if(!is_reservation(algorithm) && (!needs.empty() || as_it_chooses), algorithm,
            "--needs and --as-it-chooses", "reserves no resources");
  apply(algorithm, options.setup, "1");
  if (!is_reservation(algorithm)) return;
  auto& config = options.setup.configure<AllocationConfig>();
  config.driver_chooses = !as_it_chooses;
  config.bypasses = bypasses.value_or(1);
  if (needs.empty()) {
    refuse_too_many(options.setup.resources);
    options.menus = {sim::all_demands(options.setup.resources, SIZE_MAX)};
  } else {
    options.menus = parse_needs(needs, options.setup);
  }
}

void ReservationOptions::apply(const Algorithm& algorithm, sim::Options& options) const {
  refuse_if(!is_reservation(algorithm) && !demand.empty(), algorithm, "--demand",
            "reserves no resources");
  if (sites.empty() && (!local.empty() || !remote.empty() || !latency_on.empty() || printed_clocks))
    throw UsageError(
        "--local, --remote, --latency-on and --printed-clocks need "
        "--sites");
  apply(algorithm, options.setup, "10");
  options.sites.deaf = deaf;
  options.sites.printed_clocks = printed_clocks;
  if (entries_per_node) {
    if (*entries_per_node < 1) throw UsageError("--entries-per-node is 1 or more");
    if (options.arrivals.kind != sim::Arrivals::Kind::closed)
      throw UsageError(
          "--entries-per-node needs closed arrivals, as in "
          "--arrivals closed:500ms");
    options.entries_per_node = *entries_per_node;
  }
  if (!sites.empty()) {
    options.delay = sim::parse_distribution(local.empty() ? "1ms" : local);
    options.sites.remote = sim::parse_distribution(remote.empty() ? "50ms" : remote);
    if (!latency_on.empty() && latency_on != "all" && latency_on != "control")
      throw UsageError("--latency-on is all or control, not '" + latency_on + "'");
    options.sites.only_control_far = latency_on == "control";
  }
  auto& hints = options.setup.configure<AllocationConfig>();
  hints.local_ns = options.delay.mean();
  hints.remote_ns = options.sites.remote.mean();
  hints.hold_ns = options.hold.mean();
  if (is_reservation(algorithm))
    options.wish = demands(demand.empty() ? "half:1-1" : demand, options.setup)
                       .source(options.setup, options.seed);
}

void ReservationOptions::describe(const Algorithm& algorithm, Json& json) const {
  if (!sites.empty()) json.add("sites", sites);
  if (preference) json.add("preference", *preference);
  if (!is_reservation(algorithm)) return;
  if (types) json.add("types", *types);
  if (!instances.empty()) json.add("instances", instances);
  if (!needs.empty()) json.add("needs", needs);
  if (as_it_chooses) json.add("as_it_chooses", true);
  if (!demand.empty()) json.add("demand", demand);
  if (frequent) json.add("frequent", *frequent);
  if (bypasses) json.add("bypasses", *bypasses);
  if (deaf) json.add("deaf", true);
  if (!latency_on.empty()) json.add("latency_on", latency_on);
}

void add_reservations(const std::vector<sim::Result>& results, const sim::Options& options,
                      Json& json) {
  if (options.entries_per_node > 0) json.add("wait_sum_ms", TURNO_MEAN(wait_sum_ms));
  if (options.setup.sites.of.empty()) return;
  json.add("remote", options.sites.remote.text())
      .add("messages_local", TURNO_MEAN(messages_local))
      .add("messages_remote", TURNO_MEAN(messages_remote))
      .add("preemptions", TURNO_MEAN(preemptions));
  if (!results.front().logical.measured) return;
  const auto control = TURNO_MEAN(logical.control), tokens = TURNO_MEAN(logical.tokens);
  Json logical;
  logical.add("control", control)
      .add("tokens", tokens)
      .add("total", control + tokens)
      .add("critical_path", TURNO_MEAN(logical.critical_path));
  if (options.sites.printed_clocks)
    logical.add("printed", Json()
                               .add("control", TURNO_MEAN(logical.printed_control))
                               .add("tokens", TURNO_MEAN(logical.printed_tokens)));
  json.add("wait_logical_ms", logical);
}

std::string reservations_text(const std::vector<sim::Result>& results,
                              const sim::Options& options) {
  std::string text;
  if (options.entries_per_node > 0)
    text += fmt::format("  waiting, a node     {:.3f} s in all its entries\n",
                        TURNO_MEAN(wait_sum_ms) / 1000);
  if (options.setup.sites.of.empty()) return text;
  text += fmt::format(
      "  messages of a run   {:.1f} within sites, {:.1f} between "
      "them\n",
      TURNO_MEAN(messages_local), TURNO_MEAN(messages_remote));
  text += fmt::format("  preemptions         {:.1f}\n", TURNO_MEAN(preemptions));
  if (!results.front().logical.measured) return text;
  return text + fmt::format(
                    "  logical wait        {:.1f} ms on the "
                    "critical path; control token "
                    "{:.1f} ms, resource tokens {:.1f} ms\n",
                    TURNO_MEAN(logical.critical_path), TURNO_MEAN(logical.control),
                    TURNO_MEAN(logical.tokens));
}

#undef TURNO_MEAN

}  // namespace turno::cli

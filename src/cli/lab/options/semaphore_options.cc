#include "cli/lab/options/semaphore_options.h"

#include <string_view>

#include "catalogue/system.h"
#include "cli/lab/options/workload_options.h"
#include "protocols/kmutex/k_out_of_m.h"
#include "protocols/kmutex/robust_k.h"

namespace turno::cli {

using namespace protocols;

namespace {

constexpr std::size_t most_permits = 65'535;
constexpr std::uint32_t most_explored_permits = 16;

Detector detector_named(const std::string& name) {
  if (name == "told") return Detector::told;
  if (name == "hi-adsd") return Detector::hi_adsd;
  if (name == "vcube") return Detector::vcube;
  throw UsageError("there is no detector '" + name + "'; there are told, hi-adsd, vcube");
}

bool is_fixed(const std::string& threshold) {
  if (threshold == "fixed") return true;
  if (threshold == "live") return false;
  throw UsageError("--threshold is live or fixed, not '" + threshold + "'");
}

}  // namespace

bool has_detector(const Setup& setup) {
  return setup.config<RobustK::Config>().detector != Detector::told;
}

void SemaphoreOptions::add_to(Command command) {
  command.add_option("--permits", permits, "Semaphores: how many there are (default: 1)");
  command.add_flag("--plain", plain,
                   "k-out-of-m: also answer requests for more than can be free meanwhile");
  command.add_option(
      "--threshold", threshold,
      "robust-k: live (the dead need not answer) or fixed (suspicions may be false)");
  command.add_flag("--direct", direct,
                   "robust-k: requests go straight to everybody, not by a tree");
  command.add_flag("--counted", counted, "robust-k: permits have no names, as published");
  command.add_flag("--reply-acknowledges", reply_acknowledges,
                   "robust-k: an answer is also the acknowledgement of the request");
  command.add_flag("--lossy", lossy, "robust-k: who waits asks again, as messages may be lost");
  command.add_flag("--queued", queued,
                   "robust-k: a request waits for the acknowledgements of the last, as published");
  command.add_option("--ack-timeout", ack_timeout,
                     "robust-k: ask again who has not acknowledged so long (default: 80ms)");
  command.add_option("--detector", detector,
                     "robust-k: told (from outside), hi-adsd or vcube (default: told)");
  command.add_option("--detector-interval", detector_interval,
                     "robust-k: from one round of tests to the next (default: 1s)");
  command.add_option("--detector-timeout", detector_timeout,
                     "robust-k: who has not answered a test so long is dead (default: 40ms)");
}

void SemaphoreOptions::add_to_check(Command command) {
  command.add_option("--counts", counts,
                     "k-out-of-m: how many permits each node asks for, one digit a request, as in "
                     "12,1 (default: one each)");
  command.add_flag("--apart", apart, "k-out-of-m: who holds permits does not ask for more");
}

void SemaphoreOptions::add_to_sim(Command command) {
  command.add_option("--count", count, "k-out-of-m: permits that a request asks for (default: 1)");
}

void SemaphoreOptions::count_nodes(const Algorithm& algorithm, System& system) const {
  if (!algorithm.abilities.parts && (plain || apart || count || !counts.empty()))
    throw UsageError(
        std::string(algorithm.info.name) +
        " gives a node one thing at a time: --count, --counts, --apart and --plain are "
        "for k-out-of-m");
  if (!counts.empty()) system.nodes = parse_counts(counts).size();
}

void SemaphoreOptions::apply(const Algorithm& algorithm, check::Options& options) const {
  if (!algorithm.abilities.parts) return;
  const auto permits_here = options.setup.permits;
  if (permits_here > most_explored_permits)
    throw UsageError("the checker looks at " + std::to_string(most_explored_permits) +
                     " permits at most, not " + std::to_string(permits_here));
  options.overlapping = !apart;
  if (counts.empty()) return;
  options.scripts = parse_counts(counts);
  for (const auto& script : options.scripts)
    for (const auto& wish : script)
      if (wish.demand().permits() > permits_here)
        throw UsageError("--counts asks for " + std::to_string(wish.demand().permits()) +
                         " permits at once, but there are " + std::to_string(permits_here));
}

void SemaphoreOptions::apply(const Algorithm& algorithm, sim::Options& options) const {
  if (!algorithm.abilities.parts || !count) return;
  if (*count < 1 || *count > options.setup.permits)
    throw UsageError("--count is 1 to the number of permits, here " +
                     std::to_string(options.setup.permits) + ", not " + std::to_string(*count));
  options.wish = [wanted = static_cast<std::uint16_t>(*count)](NodeId, Random&) {
    return Wish{.needs = {{0, wanted}}};
  };
}

void SemaphoreOptions::apply(const Algorithm& algorithm, Setup& setup) const {
  const std::string name(algorithm.info.name);
  const bool robust = !threshold.empty() || direct || counted || reply_acknowledges || lossy ||
                      queued || !ack_timeout.empty() || !detector.empty() ||
                      !detector_interval.empty() || !detector_timeout.empty();
  if (algorithm.info.primitive != Primitive::semaphore) {
    if (permits) throw UsageError(name + " is not a semaphore: leave --permits away");
    if (robust)
      throw UsageError(
          "--threshold, --direct, --counted, --detector and the like are "
          "for robust-k, not for " +
          name);
    return;
  }
  if (robust && name != "robust-k")
    throw UsageError(name + " has no detector and no tree: their options are for robust-k");
  const auto nodes = setup.size();
  if (nodes < 2) throw UsageError(name + " is for 2 nodes or more: one alone has nobody to ask");
  setup.permits = permits.value_or(1);
  const auto most = algorithm.abilities.parts ? most_permits : nodes;
  if (setup.permits < 1 || setup.permits > most)
    throw UsageError("--permits is 1 to " +
                     (algorithm.abilities.parts ? "" : std::string("the number of nodes, here ")) +
                     std::to_string(most) + ", not " + std::to_string(setup.permits));
  setup.configure<KOutOfM::Config>().plain = plain;
  auto& config = setup.configure<RobustK::Config>();
  config.direct = direct;
  config.counted = counted;
  config.reply_acknowledges = reply_acknowledges;
  config.lossy = lossy;
  config.queued = queued;
  if (direct && reply_acknowledges)
    throw UsageError("--reply-acknowledges is for the tree: with --direct nothing is acknowledged");
  if (queued && (direct || lossy))
    throw UsageError("--queued is for requests along the tree that are not lost");
  if (!threshold.empty()) config.fixed_threshold = is_fixed(threshold);
  if (!detector.empty()) config.detector = detector_named(detector);
  set_time(config.acknowledge_within_ns, "--ack-timeout", ack_timeout);
  set_time(config.test_every_ns, "--detector-interval", detector_interval);
  set_time(config.test_timeout_ns, "--detector-timeout", detector_timeout);
}

void SemaphoreOptions::describe(const Algorithm& algorithm, Json& json) const {
  if (algorithm.info.primitive != Primitive::semaphore) return;
  json.add("permits", permits.value_or(1));
  if (!counts.empty()) json.add("counts", counts);
  if (count) json.add("count", *count);
  if (apart) json.add("apart", true);
  if (plain) json.add("plain", true);
  if (!threshold.empty()) json.add("threshold", threshold);
  if (direct) json.add("direct", true);
  if (counted) json.add("counted", true);
  if (reply_acknowledges) json.add("reply_acknowledges", true);
  if (lossy) json.add("lossy", true);
  if (queued) json.add("queued", true);
  if (!ack_timeout.empty()) json.add("ack_timeout", ack_timeout);
  if (!detector.empty()) json.add("failure_detector", detector);
  if (!detector_interval.empty()) json.add("detector_interval", detector_interval);
  if (!detector_timeout.empty()) json.add("detector_timeout", detector_timeout);
}

}  // namespace turno::cli

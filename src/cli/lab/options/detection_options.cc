#include "cli/lab/options/detection_options.h"

#include "catalogue/system.h"
#include "cli/frame/readable.h"
#include "protocols/deadlock/central_detector.h"
#include "protocols/deadlock/probes.h"

namespace turno::cli {

using namespace protocols;

namespace {

bool is_detection(const Algorithm& algorithm) {
  return algorithm.info.primitive == Primitive::detection;
}

}  // namespace

void DetectionOptions::add_to(Command command) {
  command.add_option("--waits", waits,
                     "Deadlock: how often each process asks for something (default: 1)");
  command.add_flag("--sets", sets,
                   "probes: a process waits for any set of others (default: for one other)");
  command.add_option("--resources", resources,
                     "wait-for-graph: how many there are (default: one for each process)");
}

void DetectionOptions::apply(const Algorithm& algorithm, Setup& setup) const {
  const std::string name(algorithm.info.name);
  if (!is_detection(algorithm)) {
    if (waits || sets || resources)
      throw UsageError(name + " detects no deadlock: --waits, --sets and --resources are for that");
    return;
  }
  if (sets && name != "probes") throw UsageError("--sets is for probes");
  if (resources && name != "wait-for-graph") throw UsageError("--resources is for wait-for-graph");
  if (sets && setup.size() > 16) throw UsageError("--sets is for up to 16 nodes");
  if (waits && (*waits < 1 || *waits > 1'000'000)) throw UsageError("--waits is 1 to 1000000");
  if (setup.size() < (name == "probes" ? 2 : 3))
    throw UsageError(name == "probes" ? "nobody to wait for: --nodes is 2 or more"
                                      : "two processes and the detector: --nodes is 3 or more");
  if (resources && (*resources < 1 || *resources >= setup.size()))
    throw UsageError("each process but the detector has a resource: --resources is 1 to " +
                     std::to_string(setup.size() - 1));
  setup.configure<Probes::Config>() = {.waits = waits.value_or(1), .sets = sets};
  setup.configure<CentralDetector::Config>() = {.waits = waits.value_or(1),
                                                .resources = resources.value_or(0)};
}

std::string DetectionOptions::text(const Algorithm& algorithm) const {
  if (!is_detection(algorithm)) return "";
  auto text = ", " + counted(waits.value_or(1), "wait") + " each";
  if (sets) text += " for any set";
  return text + (resources ? ", " + counted(*resources, "resource") : "");
}

void DetectionOptions::describe(const Algorithm& algorithm, Json& json) const {
  if (!is_detection(algorithm)) return;
  json.add("waits", waits.value_or(1));
  if (sets) json.add("sets", true);
  if (resources) json.add("resources", *resources);
}

}  // namespace turno::cli

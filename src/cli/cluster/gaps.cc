#include "cli/cluster/gaps.h"

#include <fmt/core.h>

#include <cstdio>

#include "cli/frame/readable.h"

namespace turno::cli {

std::string describe(const SilentNode& node) {
  return cluster::describe_process(printable(node.name), node.pid, node.state) +
         " did not answer: " + cluster::remedy(node.pid, node.state);
}

void add_gaps(Json& json, const Gaps& gaps) {
  std::vector<Json> silent;
  for (const auto& node : gaps.silent)
    silent.push_back(Json()
                         .add("name", printable(node.name))
                         .add("pid", node.pid)
                         .add("state", cluster::text_of(node.state)));
  json.add("complete", gaps.complete()).add("silent", silent).add("truncated", !gaps.cut.empty());
}

int tell_gaps(const Gaps& gaps) {
  for (const auto& node : gaps.silent)
    fmt::print(stderr, "turno: this is not all: {}\n", describe(node));
  for (const auto& name : gaps.cut)
    fmt::print(stderr, "turno: this is not all: {} has more than it tells at once\n",
               printable(name));
  return status_of(gaps);
}

}  // namespace turno::cli

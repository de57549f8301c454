// turno algorithms: what there is.
#include <fmt/core.h>

#include <algorithm>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/suggestion.h"
#include "cli/frame/table.h"
#include "cli/lab/commands.h"
#include "core/text/json.h"

namespace turno::cli {

namespace {

bool is_wanted(const std::string& wanted, std::string_view algorithm) {
  return wanted.empty() || wanted == algorithm;
}

void print_json(const std::string& wanted) {
  std::vector<Json> list;
  for (const auto& algorithm : algorithms()) {
    const auto& info = algorithm.info;
    if (!is_wanted(wanted, info.name)) continue;
    std::vector<Json> variants;
    for (const auto& wrong : refutable())
      if (wrong.algorithm->info.name == info.name)
        variants.push_back(Json()
                               .add("name", wrong.departure->name)
                               .add("published", wrong.published)
                               .add("flaw", wrong.departure->flaw)
                               .add("example", wrong.departure->example));
    list.push_back(Json()
                       .add("name", info.name)
                       .add("primitive", name(info.primitive))
                       .add("title", info.title)
                       .add("source", info.source)
                       .add("topology", default_topology(info))
                       .add("channels", info.fifo ? "fifo" : "unordered")
                       .add("messages_low_load", info.low)
                       .add("messages_high_load", info.high)
                       .add("variants", variants));
  }
  fmt::print("{}\n", Json().add("algorithms", list).text());
}

constexpr std::string_view headings[] = {
    "Locks: one at a time",       "Semaphores: at most k at a time",
    "Rooms: one group at a time", "Reservations: several resources at once",
    "Elections: who coordinates", "Detection: who has crashed, who is in a deadlock",
};

void print_table(Primitive primitive, const std::string& wanted) {
  Table table({"algorithm", "idea", "messages/entry, nobody competes", "everybody does", "source"});
  bool any = false;
  for (const auto& algorithm : algorithms()) {
    const auto& info = algorithm.info;
    if (info.primitive != primitive || !is_wanted(wanted, info.name)) continue;
    any = true;
    table.add({std::string(info.name), std::string(info.title), std::string(info.low),
               std::string(info.high), std::string(info.source)});
  }
  if (any) fmt::print("{}\n\n{}\n", headings[static_cast<std::size_t>(primitive)], table.text());
}

void print_text(const std::string& wanted) {
  for (std::size_t i = 0; i < std::size(headings); ++i)
    print_table(static_cast<Primitive>(i), wanted);
  Table wrong({"command", "flaw"});
  bool any = false;
  for (const auto& [algorithm, departure, number, published] : refutable()) {
    if (!is_wanted(wanted, algorithm->info.name)) continue;
    any = true;
    wrong.add(
        {fmt::format("turno check {} --{} {} {}", algorithm->info.name,
                     published ? "as-published" : "without", departure->name, departure->example),
         std::string(departure->flaw)});
  }
  if (any) fmt::print("What the checker refutes:\n\n{}", wrong.text());
}

void refuse_unknown(const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto& algorithm : algorithms()) names.emplace_back(algorithm.info.name);
  if (!wanted.empty() && std::ranges::find(names, wanted) == names.end())
    unknown("algorithm", wanted, names);
}

}  // namespace

void add_algorithms(Command app, Job& job) {
  auto command = add_lab_command(app, "algorithms");
  auto json = std::make_shared<bool>(false);
  auto wanted = std::make_shared<std::string>();
  command.add_option("ALGORITHM", *wanted, "Only this one (default: all)");
  command.add_flag("--json", *json, "Print JSON");
  command.footer(
      "\nExamples:\n  turno algorithms\n  turno algorithms nxr\n  turno algorithms --json\n");
  command.callback([&job, json, wanted] {
    job = [json, wanted] {
      refuse_unknown(*wanted);
      *json ? print_json(*wanted) : print_text(*wanted);
      return 0;
    };
  });
}

}  // namespace turno::cli

// turno quorums: quorums for a number of nodes, beside the smallest that are possible.
#include <fmt/core.h>

#include <memory>

#include "catalogue/system.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/suggestion.h"
#include "cli/frame/table.h"
#include "cli/lab/commands.h"
#include "core/text/json.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/parts/quorum/difference_covers.h"

namespace turno::cli {

namespace {

using namespace protocols;  // quorums

constexpr std::uint64_t most_nodes = 10'000;

struct Request {
  std::uint64_t nodes = 0;
  std::string construction;  // empty: all, without their members
  bool json = false;
};

QuorumConstruction chosen(const Request& request) {
  const auto construction = quorum_construction_named(request.construction);
  if (!construction)
    unknown("construction", request.construction,
            {quorum_construction_names.begin(), quorum_construction_names.end()});
  if (!possible(*construction, request.nodes))
    throw UsageError(why_impossible(*construction, request.nodes));
  return *construction;
}

std::string_view name_of(QuorumConstruction construction) {
  return quorum_construction_names[static_cast<std::size_t>(construction)];
}

// There are no smaller ones of equal size and load: by the bound; of cyclic ones, by trying all.
bool smallest(QuorumConstruction construction, std::size_t nodes, const QuorumShape& shape) {
  if (shape.smallest != shape.largest || shape.least_load != shape.most_load) return false;
  if (shape.largest == smallest_possible_size(nodes)) return true;
  return construction == QuorumConstruction::cyclic && nodes <= largest_tabled &&
         tabled_cover(nodes).minimal;
}

std::string range(std::size_t least, std::size_t most) {
  return least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
}

std::string members(const std::vector<NodeId>& quorum, std::string_view separator) {
  std::string text;
  for (auto node : quorum) text += fmt::format("{}{}", text.empty() ? "" : separator, node.value);
  return text;
}

Json to_json(QuorumConstruction construction, std::size_t nodes, bool with_members) {
  Json json;
  json.add("construction", name_of(construction));
  if (!possible(construction, nodes)) {
    std::string near;
    for (auto n : possible_near(construction, nodes))
      near += (near.empty() ? "" : ",") + std::to_string(n);
    return json.add("possible", false).add_raw("possible_near", "[" + near + "]");
  }
  const auto all = quorums(construction, nodes);
  const auto shape = shape_of(all);
  json.add("possible", true)
      .add("smallest", shape.smallest)
      .add("largest", shape.largest)
      .add("least_load", shape.least_load)
      .add("most_load", shape.most_load)
      .add("minimal", smallest(construction, nodes, shape));
  if (!with_members) return json;
  std::string lists;
  for (const auto& quorum : all) lists += (lists.empty() ? "[" : ",[") + members(quorum, ",") + "]";
  return json.add_raw("quorums", "[" + lists + "]");
}

void print_json(const Request& request) {
  Json json;
  json.add("nodes", request.nodes).add("lower_bound", smallest_possible_size(request.nodes));
  std::vector<Json> list;
  if (!request.construction.empty()) {
    list.push_back(to_json(chosen(request), request.nodes, true));
  } else {
    for (std::size_t i = 0; i < quorum_construction_names.size(); ++i)
      list.push_back(to_json(static_cast<QuorumConstruction>(i), request.nodes, false));
  }
  fmt::print("{}\n", json.add("constructions", list).text());
}

void print_bound(std::size_t nodes) {
  fmt::print("{} node{}: quorums of equal size and load have {} member{} or more\n\n", nodes,
             nodes == 1 ? "" : "s", smallest_possible_size(nodes),
             smallest_possible_size(nodes) == 1 ? "" : "s");
}

void print_all(const Request& request) {
  print_bound(request.nodes);
  Table table({"construction", "members", "in so many quorums", "messages to enter alone", ""});
  for (std::size_t i = 0; i < quorum_construction_names.size(); ++i) {
    const auto construction = static_cast<QuorumConstruction>(i);
    if (!possible(construction, request.nodes)) {
      std::string near;
      for (auto n : possible_near(construction, request.nodes))
        near += fmt::format("{}{}", near.empty() ? "" : " or ", n);
      table.add({std::string(name_of(construction)), "-", "-", "-", "for " + near + " nodes"});
      continue;
    }
    const auto shape = shape_of(quorums(construction, request.nodes));
    table.add({std::string(name_of(construction)), range(shape.smallest, shape.largest),
               range(shape.least_load, shape.most_load),
               range(3 * (shape.smallest - 1), 3 * (shape.largest - 1)),
               smallest(construction, request.nodes, shape) ? "no smaller ones" : ""});
  }
  fmt::print("{}\nTheir members: turno quorums {} --construction NAME\n", table.text(),
             request.nodes);
}

void print_members(const Request& request) {
  const auto construction = chosen(request);
  const auto all = quorums(construction, request.nodes);
  print_bound(request.nodes);
  Table table({"node", std::string(name_of(construction))});
  for (std::size_t i = 0; i < all.size(); ++i) table.add({std::to_string(i), members(all[i], " ")});
  fmt::print("{}", table.text());
}

int run(const Request& request) {
  if (request.nodes < 1 || request.nodes > most_nodes)
    throw UsageError(
        fmt::format("quorums are listed for 1 to {} nodes, not {}", most_nodes, request.nodes));
  if (request.json) {
    print_json(request);
  } else if (request.construction.empty()) {
    print_all(request);
  } else {
    print_members(request);
  }
  return 0;
}

}  // namespace

void add_quorums(Command app, Job& job) {
  auto command = add_lab_command(app, "quorums");
  auto request = std::make_shared<Request>();
  command.add_option("NODES", request->nodes, "How many nodes").required().non_negative();
  command.add_option("--construction", request->construction,
                     "List the members: cyclic, projective, closed-form, grid, majority");
  command.add_flag("--json", request->json, "Print JSON");
  command.footer(
      "\nExamples:\n"
      "  turno quorums 13\n"
      "  turno quorums 7 --construction projective\n"
      "  turno quorums 100 --construction cyclic --json\n");
  command.callback([&job, request] { job = [request] { return run(*request); }; });
}

}  // namespace turno::cli

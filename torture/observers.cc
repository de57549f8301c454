#include "observers.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace turno::torture {

using namespace std::chrono_literals;

void Observers::tick() {
  const auto living = cluster_.living();
  std::erase_if(observers_, [&](const auto& each) {
    return std::ranges::find(living, each.first) == living.end();
  });
  for (const auto node : living)
    if (!observers_.contains(node)) begin(node);
  for (auto& [node, observer] : observers_)
    while (const auto reply = observer.speaker->hear(0ms)) hear(node, observer, *reply);
}

void Observers::begin(std::uint32_t node) {
  auto speaker = Speaker::connect(cluster_.socket(node));
  if (!speaker) return;
  speaker->say({"HELLO", "3"});
  for (const auto& election : elections_) speaker->say({"OBSERVE", election});
  observers_.emplace(node, Observer{++connections_, std::move(speaker)});
}

// "leader name term value node client", "nobody name term". What it is told when it begins it may
// be told again.
void Observers::hear(std::uint32_t node, Observer& observer, const wire::Reply& reply) {
  const auto& parts = reply.elements;
  if (reply.kind != wire::Reply::Kind::push || parts.size() < 3) return;
  const auto election = std::ranges::find(elections_, parts[1].text);
  if (election == elections_.end()) return;
  News news{.node = node,
            .connection = observer.connection,
            .election = static_cast<std::uint32_t>(election - elections_.begin()),
            .term = static_cast<std::uint64_t>(parts[2].integer),
            .leads = parts[0].text == "leader"};
  if (news.leads && parts.size() > 3) news.value = parts[3].text;
  observer.last[news.election] = news;
  news_.push_back(std::move(news));
}

bool Observers::all_know(std::uint32_t election, std::uint64_t term, bool leads) const {
  return std::ranges::all_of(observers_, [&](const auto& each) {
    const auto found = each.second.last.find(election);
    return found != each.second.last.end() && found->second.term == term &&
           found->second.leads == leads;
  });
}

std::vector<std::string> judge_news(const std::vector<News>& news,
                                    const std::vector<Hold>& reigns) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> leaders;  // of a term
  for (const auto& reign : reigns) leaders[{reign.lock, reign.fence}] = reign.client;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> terms;  // that were told
  std::vector<std::string> complaints;
  for (const auto& each : news) {
    auto& term = terms[{each.connection, each.election}];
    if (each.term < term)
      complaints.push_back(
          fmt::format("lock {}: the observer at node {} was told of term {} after {}",
                      each.election, each.node, each.term, term));
    term = std::max(term, each.term);
    const auto leader = leaders.find({each.election, each.term});
    if (each.leads && leader != leaders.end() && each.value != std::to_string(leader->second))
      complaints.push_back(fmt::format(
          "lock {}: the observer at node {} was told that {} led in the term {} of client "
          "{}",
          each.election, each.node, each.value, each.term, leader->second));
  }
  return complaints;
}

}  // namespace turno::torture

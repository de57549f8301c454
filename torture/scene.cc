#include "scene.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <thread>

#include "cluster/rendezvous.h"

namespace turno::torture {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Kind = Scenery::Kind;

namespace {

NodeOptions described(NodeOptions node, const Scenery& scenery) {
  node.idle = scenery.idle;
  node.lock_delay = scenery.lock_delay;
  node.lines = scenery.lines;
  node.eager = scenery.eager;
  return node;
}

std::string name_with_home_at_first(const std::vector<std::uint64_t>& ids) {
  for (int i = 0;; ++i) {
    auto name = "play-" + std::to_string(i);
    const auto home = cluster::highest_weight(cluster::hash_of_name(name), ids.size(),
                                              [&](std::size_t at) { return ids[at]; });
    if (home.index() == 0) return name;
  }
}

}  // namespace

Line line(std::uint32_t from, std::uint32_t to, milliseconds latency, milliseconds spacing) {
  return {"n" + std::to_string(from), "n" + std::to_string(to), latency, spacing};
}

Scene::Scene(const Options& options, Scenery scenery)
    : options_(options),
      scenery_(std::move(scenery)),
      cluster_(described(options.node, scenery_), *board_, options.slack) {
  // One after the other: members are numbered as they join.
  for (std::uint32_t i = 0; i < scenery_.nodes; ++i) {
    cluster_.start();
    if (!cluster_.settle()) throw Misplayed("the nodes did not come up");
    admit_client(i);
  }
  for (const auto node : scenery_.second_clients) admit_client(node);
  wait_for_view();
  name_ = name_with_home_at_first(members(0));
  pass(50ms);
}

// ---- clients

void Scene::admit_client(std::uint32_t node) {
  parts_.push_back({.node = node, .speaker = Speaker::connect(cluster_.socket(node))});
  if (!parts_.back().speaker) throw Misplayed("a node took no client");
  command(static_cast<std::uint32_t>(parts_.size() - 1), {"HELLO", "3"});
}

void Scene::lose_clients(std::uint32_t node) {
  for (auto& part : parts_)
    if (part.node == node) part.speaker.reset();
}

void Scene::ask(std::uint32_t client) {
  const auto own = std::to_string(client);
  switch (scenery_.kind) {
    case Kind::lock:
      return lock(client, {"LOCK", name_, "ASYNC"});
    case Kind::permit:
      return lock(client, {"PERMIT", name_, "OF", "1", "ASYNC"});
    case Kind::room:
      return lock(client, {"ENTER", name_, own, "ASYNC"});
    case Kind::election:
      return lock(client, {"CAMPAIGN", name_, own, "ASYNC"});
  }
}
void Scene::attempt(std::uint32_t client) {
  lock(client, {"LOCK", name_, "TIMEOUT", "0", "ASYNC"});
}

void Scene::lock(std::uint32_t client, std::initializer_list<std::string_view> words) {
  auto& part = parts_[client];
  part.asked = now_ns();
  part.ticket = command(client, words).integer;
  pump();
}

void Scene::give_up(std::uint32_t client) {
  auto& part = parts_[client];
  command(client, {"CANCEL", std::to_string(part.ticket)});
  part.asked = 0;
}

void Scene::leave(std::uint32_t client) {
  auto& part = parts_[client];
  holds_[*part.hold].ended = now_ns();
  part.hold.reset();
  constexpr std::array<std::string_view, 4> words = {"UNLOCK", "RELEASE", "LEAVE", "RESIGN"};
  command(client, {words[static_cast<std::size_t>(scenery_.kind)], name_});
}

void Scene::observe() { observers_.emplace(cluster_, std::vector{name_}); }

void Scene::wait_for(std::uint32_t client) {
  if (!until(options_.scaled(5s), [&] { return inside(client); }))
    throw Misplayed(fmt::format("client {} did not get in", client));
}

wire::Reply Scene::command(std::uint32_t client, std::initializer_list<std::string_view> words) {
  auto& speaker = *parts_[client].speaker;
  speaker.say(words);
  while (auto reply = speaker.hear(options_.scaled(5s))) {
    if (reply->kind != wire::Reply::Kind::push) return std::move(*reply);
    note(client, *reply);
  }
  throw Misplayed(fmt::format("node {} did not answer", parts_[client].node));
}

void Scene::pump() {
  if (observers_) observers_->tick();
  for (std::uint32_t client = 0; client < parts_.size(); ++client) {
    if (!parts_[client].speaker) continue;
    while (const auto reply = parts_[client].speaker->hear(0ms)) note(client, *reply);
  }
}

void Scene::note(std::uint32_t client, const wire::Reply& push) {
  auto& part = parts_[client];
  if (push.kind != wire::Reply::Kind::push || push.elements.size() < 3) return;
  if (push.elements[0].text == "granted" && push.elements.size() == 4) {
    const auto* fence = &push.elements[3];
    if (scenery_.kind == Kind::permit)
      fence = &fence->elements.at(0).elements.at(1);  // of its one permit
    part.hold = holds_.size();
    holds_.push_back({.client = client,
                      .fence = static_cast<std::uint64_t>(fence->integer),
                      .asked = part.asked,
                      .granted = now_ns(),
                      .node = part.node});
  }
  part.asked = 0;
}

// ---- nodes

std::vector<std::uint64_t> Scene::members(std::uint32_t client) {
  std::vector<std::uint64_t> ids;
  for (const auto& member : command(client, {"MEMBERS"}).elements)
    for (std::size_t i = 0; i + 1 < member.elements.size(); i += 2)
      if (member.elements[i].text == "id")
        ids.push_back(static_cast<std::uint64_t>(member.elements[i + 1].integer));
  return ids;
}

void Scene::wait_for_view() {
  const auto nodes = std::span(parts_).first(scenery_.nodes);  // by their first clients
  const auto size = std::ranges::count_if(nodes, [](const Part& part) { return !!part.speaker; });
  const auto known = [&] {
    for (std::uint32_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].speaker && std::ssize(members(i)) != size) return false;
    return true;
  };
  if (!until(options_.scaled(5s), known)) throw Misplayed("the view did not change");
}

void Scene::remove(std::uint32_t node) {
  lose_clients(node);
  cluster_.tell_to_leave(node);
  wait_for_view();
}

void Scene::kill(std::uint32_t node) {
  lose_clients(node);
  cluster_.kill(node);
  wait_for_view();
}

// ---- time

template <class Condition>
bool Scene::until(milliseconds patience, Condition condition) {
  const auto end = now_ns() + std::chrono::nanoseconds(patience).count();
  for (;;) {
    cluster_.tick();
    pump();
    if (condition()) return true;
    if (now_ns() >= end) return false;
    std::this_thread::sleep_for(1ms);
  }
}

void Scene::pass(milliseconds time) {
  until(time, [] { return false; });
}

void Scene::in_time(std::int64_t since_ns, milliseconds time) const {
  if (now_ns() - since_ns > std::chrono::nanoseconds(time).count())
    throw Misplayed("this machine was too slow");
}

// ---- the end

bool Scene::anybody_waits() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.asked != 0; });
}

void Scene::finish() {
  free_since_ = now_ns();
  until(options_.scaled(scenery_.patience) + 50ms, [&] {
    for (std::uint32_t client = 0; client < parts_.size(); ++client)
      if (parts_[client].speaker && inside(client)) leave(client);
    return !anybody_waits();
  });
}

Report Scene::conclude() {
  const auto now = now_ns();
  Story story{.holds = holds_,
              .nodes = cluster_.fates(),
              .lock_delay = std::chrono::nanoseconds(scenery_.lock_delay).count(),
              .longest_wait = std::chrono::nanoseconds(options_.scaled(scenery_.patience)).count(),
              .most_overtakings = scenery_.most_overtakings};
  // Before that, those who waited did so because they were made to.
  const auto since = free_since_ == 0 ? now : free_since_;
  for (auto& hold : story.holds) {
    if (hold.ended == 0) hold.ended = now;
    if (scenery_.most_overtakings == Scenery{}.most_overtakings)
      hold.asked = std::clamp(since, hold.asked, hold.granted);
  }
  for (std::uint32_t client = 0; client < parts_.size(); ++client)
    if (const auto& part = parts_[client]; part.asked != 0)
      story.waits.push_back({client, 0, part.node, std::max(part.asked, since), now});
  const auto verdict = judge(std::move(story));
  Report report{.complaints = verdict.violations};
  if (observers_)
    for (auto& wrong : judge_news(observers_->news(), holds_))
      report.complaints.push_back(std::move(wrong));
  if (report.complaints.empty()) cluster_.end();
  for (const auto& complaint : cluster_.complaints()) report.complaints.push_back(complaint);
  report.summary =
      fmt::format("{} holds, {} hand-overs; longest wait {:.3f} s; most overtakings {}",
                  verdict.holds, verdict.hand_overs,
                  static_cast<double>(verdict.longest_wait) / 1e9, verdict.most_overtakings);
  return report;
}

}  // namespace turno::torture

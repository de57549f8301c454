// Questions of a node to all others: who holds, who waits. An answer names those who gave none.
#include <algorithm>
#include <iterator>
#include <utility>

#include "node/daemon.h"
#include "table/sightings.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
constexpr auto time_to_answer = 1s;
// For those who have been silent before.
constexpr auto short_time_to_answer = 100ms;

}  // namespace

void Daemon::ask(std::string_view name, Answer answer) {
  const auto number = ++question_numbers_;
  auto& question = questions_[number];
  question.name = name;
  question.answer = std::move(answer);
  send_question(number, question);
  if (question.missing.empty()) return finish(number);
  question.patience = loop_.after(short_time_to_answer, [this, number] { lose_patience(number); });
}

void Daemon::send_question(std::uint64_t number, Question& question) {
  question.findings = {};
  question.missing.clear();
  add(question.findings, self_.name, sightings(question.name));
  for (const auto& member : view_.members) {
    const auto link = peers_->link(member.id);
    if (!link) continue;
    question.missing.insert(member.id);
    link->send(view_.epoch, number, static_cast<std::uint8_t>(table::NodeKind::ask),
               [&](wire::Writer& body) { body.bytes(question.name); });
  }
}

// Of things of every kind.
table::Sightings Daemon::sightings(std::string_view name) const {
  table::Sightings found;
  for (auto* table : tables()) {
    auto more = table->sightings(name, table::most_sightings - found.list.size());
    found.waiting += more.waiting;
    found.cut |= more.cut;
    std::move(more.list.begin(), more.list.end(), std::back_inserter(found.list));
  }
  // Leaders' values are for those who ask for one of them.
  if (name.empty())
    for (auto& each : found.list) each.value.clear();
  return found;
}

// In a new view: answers of the one before are not heard any more, and the members are others.
void Daemon::send_questions_again() {
  std::vector<std::uint64_t> answered;
  for (auto& [number, question] : questions_) {
    send_question(number, question);
    if (question.missing.empty()) answered.push_back(number);
  }
  for (const auto number : answered) finish(number);
}

void Daemon::receive_question(NodeId from, const wire::Frame& frame) {
  wire::Reader body(frame.body);
  const auto name = body.bytes();
  if (!body.ok()) return;
  const auto found = sightings(name);
  peers_->link(view_.members[from.index()].id)
      ->send(view_.epoch, frame.lock, static_cast<std::uint8_t>(table::NodeKind::answer),
             [&](wire::Writer& out) { table::encode_sightings(out, found); });
}

void Daemon::receive_answer(NodeId from, const wire::Frame& frame) {
  const auto asked = questions_.find(frame.lock);
  if (asked == questions_.end()) return;
  auto& question = asked->second;
  const auto& member = view_.members[from.index()];
  if (question.missing.erase(member.id) == 0) return;
  wire::Reader body(frame.body);
  add(question.findings, member.name, table::decode_sightings(body));
  if (question.missing.empty() ||
      (Clock::now() - question.asked >= short_time_to_answer && only_silent_are_missing(question)))
    finish(frame.lock);
}

void Daemon::add(Findings& findings, const std::string& node, table::Sightings sightings) {
  findings.waiting += sightings.waiting;
  if (sightings.cut) findings.cut.push_back(node);
  for (auto& sighting : sightings.list) findings.found.push_back({node, std::move(sighting)});
}

// Nothing is to be hoped from them.
bool Daemon::only_silent_are_missing(const Question& question) const {
  return std::all_of(question.missing.begin(), question.missing.end(), [&](std::uint64_t id) {
    const auto link = peers_->link(id);
    return link && link->quiet_for() >= port::silent_after;
  });
}

void Daemon::lose_patience(std::uint64_t number) {
  auto& question = questions_.at(number);
  question.patience = {};
  const auto left = question.asked + time_to_answer - Clock::now();
  if (left <= 0ms || only_silent_are_missing(question)) return finish(number);
  question.patience = loop_.after(left, [this, number] { lose_patience(number); });
}

void Daemon::finish(std::uint64_t number) {
  auto node = questions_.extract(number);
  if (node.empty()) return;
  auto& [name, answer, asked, findings, missing, patience] = node.mapped();
  loop_.cancel(patience);
  for (const auto id : missing)
    if (const auto* member = view_.find(id))
      findings.silent.push_back({member->name, member->pid, cluster::process_state(member->pid)});
  for (auto& [said_by, sighting] : findings.found)
    if (const auto* member = view_.find(sighting.session);
        member != nullptr && sighting.is(Sighting::Kind::leaving))
      said_by = member->name;
  // Of who has answered for itself, no note of another is needed.
  std::erase_if(findings.found, [&](NodeSighting& other) {
    if (!other.sighting.is(Sighting::Kind::noted)) return false;
    if (other.sighting.session >= view_.size()) return true;
    const auto& member = view_.members[other.sighting.session];
    if (!missing.contains(member.id)) return true;
    other.sighting.client = std::exchange(other.node, member.name);
    return false;
  });
  answer(std::move(findings));
}

}  // namespace turno::node

#include "node/daemon.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "net/log.h"
#include "net/socket.h"
#include "table/sightings.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
constexpr auto time_to_answer = 1s;
constexpr std::size_t most_retired_at_once = 2000;

}  // namespace

tl::expected<std::unique_ptr<Daemon>, std::string> Daemon::start(Settings settings, Lost lost) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(settings), std::move(lost)));
  if (auto prepared = daemon->prepare(); !prepared) return tl::unexpected(prepared.error());
  if (auto joined = daemon->join(); !joined) return tl::unexpected(joined.error());
  return daemon;
}

Daemon::~Daemon() {
  if (keeper_) keeper_->stop();
  loop_.cancel(delay_);
  loop_.cancel(sweep_);
  loop_.cancel(tick_);
}

tl::expected<void, std::string> Daemon::prepare() {
  if (settings_.name.empty()) settings_.name = "node-" + std::to_string(::getpid());
  self_.id = cluster::random_id();
  self_.name = settings_.name;
  self_.pid = ::getpid();
  auto peers = net::Peers::listen(
      loop_, settings_.peer_address,
      {.frame = [this](std::uint64_t from,
                       const wire::Frame& frame) { return receive(from, frame); },
       .trouble =
           [this](std::uint64_t id) {
             if (keeper_) keeper_->suspect(id);
           },
       .gap =
           [this](std::uint64_t, std::uint32_t epoch) {
             if (keeper_ && epoch >= view_.epoch) keeper_->bump();
           }});
  if (!peers) return tl::unexpected(peers.error());
  peers_ = std::move(*peers);
  self_.peer_address = peers_->address();
  return listen();
}

// Before it joins, so that the others know where.
tl::expected<void, std::string> Daemon::listen() {
  const auto at = [&](const std::string& address,
                      std::string& known) -> tl::expected<net::Fd, std::string> {
    auto socket = net::listen(address);
    if (socket) known = net::address_of(*socket);
    return socket;
  };
  if (!settings_.client_address.empty()) {
    auto socket = at(settings_.client_address, self_.client_address);
    if (!socket) return tl::unexpected(socket.error());
    client_sockets_.push_back(std::move(*socket));
  }
  if (!settings_.client_socket.empty()) {
    // The registry will want this directory too, for its user alone.
    const auto old = ::umask(077);
    std::error_code error;
    std::filesystem::create_directories(
        std::filesystem::path(settings_.client_socket).parent_path(), error);
    ::umask(old);
    auto socket = at("unix:" + settings_.client_socket, self_.client_socket);
    if (!socket) return tl::unexpected(socket.error());
    client_sockets_.push_back(std::move(*socket));
  }
  if (settings_.http_address.empty()) return {};
  auto socket = at(settings_.http_address, self_.http_address);
  if (!socket) return tl::unexpected(socket.error());
  http_socket_ = std::move(*socket);
  return {};
}

tl::expected<void, std::string> Daemon::join() {
  const registry::Settings wanted{.algorithm = settings_.algorithm,
                                  .fallback_algorithm = std::string(default_algorithm),
                                  .lock_delay_ms = settings_.lock_delay.count(),
                                  .idle_ms = settings_.idle.count()};
  if (!wanted.algorithm.empty() && settings_.make_engine(wanted.algorithm) == nullptr)
    return tl::unexpected("there is no lock algorithm '" + wanted.algorithm + "'");
  const auto view = registry_.join(self_, wanted);
  if (!view) return tl::unexpected(view.error().message);
  joined_ = true;
  auto engine = settings_.make_engine(view->algorithm);
  if (engine == nullptr)
    return tl::unexpected("the cluster uses the algorithm '" + view->algorithm +
                          "', which this node does not have");
  settings_.algorithm = view->algorithm;
  settings_.lock_delay = std::chrono::milliseconds(view->lock_delay_ms);
  settings_.idle = std::chrono::milliseconds(view->idle_ms);
  locks_ = std::make_unique<LockTable>(std::move(engine),
                                       LockTable::Options{.longest_turn = settings_.longest_turn,
                                                          .rules = settings_.rules,
                                                          .departure = settings_.departure},
                                       lost_, [this](Clock::time_point at) { wake(at); });
  peers_->introduce({.id = self_.id, .key = view->key});
  adopt(*view);
  keeper_ = std::make_unique<Keeper>(
      registry_, self_.id, view->epoch,
      Keeper::Handlers{
          .view = [this](const cluster::View& next) { loop_.post([this, next] { adopt(next); }); },
          .lost =
              [this](const std::string& reason) {
                loop_.post([this, reason] { give_up(reason); });
              }});
  sweep();
  return {};
}

void Daemon::leave() {
  if (keeper_) keeper_->stop();
  locks_->end("the node ends");
  if (!std::exchange(joined_, false)) return;
  if (const auto left = registry_.leave(); !left) log::error("{}", left.error().message);
}

void Daemon::drain(std::string_view reason) {
  if (std::exchange(draining_, true)) return;
  log::info("{}: this node leaves as soon as its clients have moved or stopped", reason);
  if (drain_) return drain_(reason);
  stop();
}

void Daemon::give_up(const std::string& reason) {
  log::error("this node gives up: {}", reason);
  failure_ = reason;
  loop_.stop();
}

void Daemon::adopt(const cluster::View& view) {
  if (view.epoch <= view_.epoch) return;
  const auto self = view.index_of(self_.id);
  if (self == nobody) return give_up("the registry no longer lists this node");
  if (view.size() > cluster::most_members)
    return give_up("a cluster has at most " + std::to_string(cluster::most_members) + " members");
  const bool crashed = view.crashed_since(view_.epoch);
  if (crashed)
    delay_until_ =
        std::max(delay_until_, Clock::now() + view.remaining_delay(cluster::Moment::now()));
  std::string gone;
  for (const auto& member : view_.members)
    if (view.index_of(member.id) == nobody) gone += (gone.empty() ? "" : ", ") + member.name;
  if (crashed) dead_ = gone.empty() ? "a member that crashed" : gone;
  view_ = view;
  ++view_changes_;
  std::vector<net::Peers::Peer> peers;
  for (const auto& member : view.members) {
    if (member.id == self_.id) continue;
    const auto of = [&](const std::map<std::string, std::chrono::milliseconds>& times) {
      const auto found = times.find(member.name);
      return found == times.end() ? 0ms : found->second;
    };
    peers.push_back({member.id, member.name, member.peer_address, of(settings_.latency),
                     of(settings_.spacing)});
  }
  peers_->set(peers);
  LockTable::Links links;
  for (const auto& member : view.members) links.push_back(peers_->link(member.id));
  const auto delay = delay_until_ - Clock::now();
  const bool delayed = delay > Clock::duration::zero();
  log::info("view {}: {} member{}{}", view.epoch, view.size(), view.size() == 1 ? "" : "s",
            gone.empty() ? "" : "; " + gone + (crashed ? " crashed" : " left"));
  locks_->adopt(view, self, std::move(links),
                {.delayed = delayed, .dead = dead_, .until = delay_until_});
  loop_.cancel(delay_);
  if (delayed)
    delay_ = loop_.after(delay, [this] {
      delay_ = {};
      locks_->end_delay();
    });
  repeat_wills();
  // What came too early: the rest may be of a view that is newer still.
  for (const auto& early : early_.take()) receive(early.from, early.frame());
}

bool Daemon::receive(std::uint64_t from, const wire::Frame& frame) {
  const bool late = frame.epoch < view_.epoch;
  if (frame.epoch == view_.epoch || (late && hears_late_)) dispatch(from, frame);
  if (frame.epoch <= view_.epoch) return true;
  if (keeper_) keeper_->look();
  return early_.keep(from, view_.find(from) != nullptr, view_.epoch, frame);
}

void Daemon::dispatch(std::uint64_t from, const wire::Frame& frame) {
  const auto member = view_.index_of(from);
  if (member == nobody) return;
  const auto kind = static_cast<table::NodeKind>(frame.kind);
  if (kind == table::NodeKind::ask) return receive_question(member, frame);
  if (kind == table::NodeKind::answer) return receive_answer(member, frame);
  if (kind == table::NodeKind::will) return receive_will(member, frame);
  if (kind == table::NodeKind::taken) return receive_taken(member, frame);
  if (locks_->receive(member, frame)) return;
  table::Statistics::add(locks_->statistics().strange_frames);
  if (const auto unsaid = strange_.admit())
    log::warning("{} sent a frame of kind {} that makes no sense; it was dropped{}",
                 view_.members[member.index()].name, frame.kind, *unsaid);
}

// From any thread.
void Daemon::wake(Clock::time_point at) {
  auto work = [this, at] {
    loop_.cancel(tick_);
    tick_ = loop_.after(at - Clock::now(), [this] {
      tick_ = {};
      locks_->tick();
    });
  };
  if (loop_.here()) {
    loop_.later(std::move(work));
  } else {
    loop_.post(std::move(work));
  }
}

void Daemon::sweep() {
  if (locks_->worn() && keeper_) keeper_->bump();
  const auto count =
      locks_->retire_idle(table::coarse_now() - settings_.idle, most_retired_at_once);
  const auto pause = count == most_retired_at_once
                         ? 1ms
                         : std::clamp<std::chrono::milliseconds>(settings_.idle / 4, 20ms, 5s);
  sweep_ = loop_.after(pause, [this] { sweep(); });
}

// ---- questions

void Daemon::ask(std::string_view name, Answer answer) {
  const auto number = ++question_numbers_;
  auto& question = questions_[number];
  question.answer = std::move(answer);
  for (auto& sighting : locks_->sightings(name, table::most_sightings))
    question.found.push_back({self_.name, std::move(sighting)});
  for (const auto& member : view_.members) {
    const auto link = peers_->link(member.id);
    if (!link) continue;
    ++question.missing;
    link->send(view_.epoch, number, static_cast<std::uint8_t>(table::NodeKind::ask),
               [&](wire::Writer& body) { body.bytes(name); });
  }
  if (question.missing == 0) return finish(number, true);
  question.patience = loop_.after(time_to_answer, [this, number] { finish(number, false); });
}

void Daemon::receive_question(NodeId from, const wire::Frame& frame) {
  wire::Reader body(frame.body);
  const auto name = body.bytes();
  if (!body.ok()) return;
  const auto found = locks_->sightings(name, table::most_sightings);
  peers_->link(view_.members[from.index()].id)
      ->send(view_.epoch, frame.lock, static_cast<std::uint8_t>(table::NodeKind::answer),
             [&](wire::Writer& out) { table::encode_sightings(out, found); });
}

void Daemon::receive_answer(NodeId from, const wire::Frame& frame) {
  const auto asked = questions_.find(frame.lock);
  if (asked == questions_.end()) return;
  wire::Reader body(frame.body);
  for (auto& sighting : table::decode_sightings(body))
    asked->second.found.push_back({view_.members[from.index()].name, std::move(sighting)});
  if (asked->second.missing > 0) --asked->second.missing;
  if (asked->second.missing == 0) finish(frame.lock, true);
}

void Daemon::finish(std::uint64_t number, bool complete) {
  auto node = questions_.extract(number);
  if (node.empty()) return;
  loop_.cancel(node.mapped().patience);
  node.mapped().answer(std::move(node.mapped().found), complete);
}

// ---- sessions that move

void Daemon::bequeath(std::string_view member, table::Will will, Taken taken) {
  const auto* heir = view_.find(member);
  if (heir == nullptr || heir->id == self_.id)
    return taken("there is no other node called '" + std::string(member) + "'");
  const auto number = ++question_numbers_;
  wills_[number] = {heir->id, std::move(will), std::move(taken)};
  send_will(number);
}

void Daemon::send_will(std::uint64_t number) {
  const auto& bequest = wills_.at(number);
  peers_->link(bequest.heir)
      ->send(view_.epoch, number, static_cast<std::uint8_t>(table::NodeKind::will),
             [&](wire::Writer& out) { table::encode(out, bequest.will); });
}

// What was said in the view before may not have been heard. Who heard it twice knows by the number.
void Daemon::repeat_wills() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, bequest] : wills_) numbers.push_back(number);
  for (const auto number : numbers) {
    if (view_.find(wills_.at(number).heir) != nullptr) {
      send_will(number);
    } else {
      auto node = wills_.extract(number);
      node.mapped().taken("that node is gone");
    }
  }
}

void Daemon::receive_will(NodeId from, const wire::Frame& frame) {
  wire::Reader body(frame.body);
  const auto will = table::decode_will(body);
  const auto sender = view_.members[from.index()].id;
  const std::string refusal = !will       ? "it makes no sense"
                              : draining_ ? "this node leaves, too"
                              : !heir_    ? "this node has no clients"
                                          : heir_(sender, frame.lock, *will);
  peers_->link(sender)->send(view_.epoch, frame.lock,
                             static_cast<std::uint8_t>(table::NodeKind::taken),
                             [&](wire::Writer& out) { out.bytes(refusal); });
}

void Daemon::receive_taken(NodeId from, const wire::Frame& frame) {
  const auto found = wills_.find(frame.lock);
  if (found == wills_.end() || found->second.heir != view_.members[from.index()].id) return;
  wire::Reader body(frame.body);
  const auto refusal = std::string(body.bytes());
  if (!body.ok()) return;
  auto node = wills_.extract(found);
  node.mapped().taken(refusal);
}

}  // namespace turno::node

#include "node/daemon.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "net/log.h"
#include "net/socket.h"
#include "registry/embedded/safe_directory.h"
#include "wire/frame.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
constexpr std::size_t most_retired_at_once = 2000;

void append(std::string& list, const std::string& name) {
  list += (list.empty() ? "" : ", ") + name;
}

bool is_dead(const cluster::View& view, std::uint64_t id) {
  return std::any_of(view.casualties.begin(), view.casualties.end(),
                     [&](const auto& dead) { return dead.id == id; });
}

// "; a (pid 7) crashed; b left": who is not in the next view.
std::string describe_change(const cluster::View& before, const cluster::View& next) {
  std::string crashed, left;
  for (const auto& member : before.members) {
    if (next.index_of(member.id) != nobody) continue;
    append(is_dead(next, member.id) ? crashed : left,
           is_dead(next, member.id) ? fmt::format("{} (pid {})", member.name, member.pid)
                                    : member.name);
  }
  return (crashed.empty() ? "" : "; " + crashed + " crashed") +
         (left.empty() ? "" : "; " + left + " left");
}

// Those who have died since that epoch.
std::string names_of_dead(const cluster::View& view, std::uint32_t since) {
  std::string names;
  for (const auto& dead : view.casualties)
    if (dead.epoch > since) append(names, dead.name);
  return names.empty() ? "a member that crashed" : names;
}

void remove_sockets_of_dead(const cluster::View& next, const cluster::View& before) {
  for (const auto& member : before.members)
    if (is_dead(next, member.id) && !member.client_socket.empty())
      net::remove_abandoned_socket(member.client_socket);
}

}  // namespace

tl::expected<std::unique_ptr<Daemon>, std::string> Daemon::start(Settings settings, Lost lost) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(settings), std::move(lost)));
  if (auto prepared = daemon->prepare(); !prepared) return tl::unexpected(prepared.error());
  if (auto joined = daemon->join(); !joined) return tl::unexpected(joined.error());
  return daemon;
}

Daemon::~Daemon() {
  if (keeper_) keeper_->stop();
  // Of one that did not come so far that somebody took it.
  for (const auto& socket : client_sockets_)
    if (const auto address = net::address_of(socket); address.starts_with("unix:"))
      ::unlink(address.c_str() + 5);
  loop_.cancel(delay_);
  loop_.cancel(sweep_);
  loop_.cancel(tick_);
}

tl::expected<void, std::string> Daemon::check_settings() const {
  if (auto wrong = cluster::wrong_with_name(settings_.name); !wrong.empty())
    return tl::unexpected(std::move(wrong));
  if (settings_.exposed) return {};
  for (const auto* address :
       {&settings_.peer_address, &settings_.client_address, &settings_.http_address}) {
    if (address->empty()) continue;
    const auto local = net::is_local(*address);
    if (!local) return tl::unexpected(local.error());
    if (!*local)
      return tl::unexpected("other machines could connect to " + *address +
                            ", and nobody asks them for a password: listen on 127.0.0.1 or [::1], "
                            "or say that it is meant (--expose)");
  }
  return {};
}

tl::expected<void, std::string> Daemon::prepare() {
  if (settings_.name.empty()) settings_.name = "node-" + std::to_string(::getpid());
  if (auto fine = check_settings(); !fine) return fine;
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
  if (!settings_.client_socket.empty())
    if (auto listening = listen_on_path(); !listening) return listening;
  if (settings_.http_address.empty()) return {};
  auto socket = at(settings_.http_address, self_.http_address);
  if (!socket) return tl::unexpected(socket.error());
  http_socket_ = std::move(*socket);
  return {};
}

tl::expected<void, std::string> Daemon::listen_on_path() {
  const std::filesystem::path path = settings_.client_socket;
  struct stat there {};
  // A directory that is there may be anybody's: who asks for a socket in it knows it.
  if (const auto directory = path.parent_path();
      !directory.empty() && ::lstat(directory.c_str(), &there) != 0)
    if (auto made = registry::make_directory(directory); !made)
      return tl::unexpected(made.error().message);
  auto socket = net::listen("unix:" + settings_.client_socket, settings_.socket_mode);
  if (!socket) {
    const auto view = registry_.current();
    const auto* other = view ? view->find(settings_.name) : nullptr;
    if (other == nullptr) return tl::unexpected(socket.error());
    return tl::unexpected(fmt::format(
        "a node named '{}' already runs in this cluster (pid {}): choose another name, or stop "
        "that one ({})",
        settings_.name, other->pid, socket.error()));
  }
  self_.client_socket = settings_.client_socket;
  client_sockets_.push_back(std::move(*socket));
  return {};
}

tl::expected<void, std::string> Daemon::join() {
  const registry::Settings wanted{.algorithm = settings_.algorithm,
                                  .fallback_algorithm = std::string(default_algorithm),
                                  .allocator = settings_.allocator,
                                  .fallback_allocator = std::string(default_allocator),
                                  .wire = wire::version,
                                  .lock_delay_ms = settings_.lock_delay.count(),
                                  .idle_ms = settings_.idle.count()};
  if (!wanted.algorithm.empty() && settings_.make_engine(wanted.algorithm) == nullptr)
    return tl::unexpected("there is no lock algorithm '" + wanted.algorithm + "'");
  if (!wanted.allocator.empty() && settings_.make_store_engine(wanted.allocator) == nullptr)
    return tl::unexpected("there is no algorithm of reservations '" + wanted.allocator + "'");
  const auto view = registry_.join(self_, wanted);
  if (!view) return tl::unexpected(view.error().message);
  joined_ = true;
  auto engine = settings_.make_engine(view->algorithm);
  if (engine == nullptr)
    return tl::unexpected("the cluster uses the algorithm '" + view->algorithm +
                          "', which this node does not have");
  auto store_engine = settings_.make_store_engine(view->allocator);
  if (store_engine == nullptr)
    return tl::unexpected("the cluster reserves by the algorithm '" + view->allocator +
                          "', which this node does not have");
  settings_.algorithm = view->algorithm;
  settings_.allocator = view->allocator;
  settings_.lock_delay = std::chrono::milliseconds(view->lock_delay_ms);
  settings_.idle = std::chrono::milliseconds(view->idle_ms);
  locks_ = std::make_unique<LockTable>(std::move(engine),
                                       LockTable::Options{.longest_turn = settings_.longest_turn,
                                                          .rules = settings_.rules,
                                                          .departure = settings_.departure},
                                       lost_, [this](Clock::time_point at) { wake(at); });
  semaphores_ = std::make_unique<PoolTable>(
      table::make_pool_engine(),
      PoolTable::Options{.rules = settings_.rules, .departure = settings_.semaphore_departure},
      lost_, [this](Clock::time_point at) { wake(at); });
  elections_ = std::make_unique<ElectionTable>(
      settings_.make_engine(view->algorithm),
      LockTable::Options{.longest_turn = settings_.longest_turn,
                         .rules = settings_.rules,
                         .departure = settings_.departure},
      lost_, [this](Clock::time_point at) { wake(at); }, self_.id,
      [this](const Leadership& change) { change_leader(change); });
  rooms_ = std::make_unique<PoolTable>(
      settings_.make_room_engine(), PoolTable::Options{.rules = settings_.rules}, lost_,
      [this](Clock::time_point at) { wake(at); }, table::Thing::room);
  stores_ = std::make_unique<PoolTable>(
      std::move(store_engine), PoolTable::Options{.rules = settings_.rules}, lost_,
      [this](Clock::time_point at) { wake(at); }, table::Thing::store);
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

void Daemon::end() {
  if (keeper_) keeper_->stop();
  for (auto* table : tables()) table->end("the node ends");
}

void Daemon::leave() {
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
  const auto gone = describe_change(view_, view);
  if (crashed) dead_ = names_of_dead(view, view_.epoch);
  remove_sockets_of_dead(view, view_);
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
                     of(settings_.spacing),
                     // A narrow line is for a play about one lock.
                     table::frame_kind(table::Thing::semaphore, table::NoteKind{})});
  }
  peers_->set(peers);
  table::Table::Links links;
  for (const auto& member : view.members) links.push_back(peers_->link(member.id));
  const auto delay = delay_until_ - Clock::now();
  const bool delayed = delay > Clock::duration::zero();
  log::info("view {}: {} member{}{}", view.epoch, view.size(), view.size() == 1 ? "" : "s", gone);
  for (auto* table : tables())
    table->adopt(view, self, links, {.delayed = delayed, .dead = dead_, .until = delay_until_});
  loop_.cancel(delay_);
  if (delayed)
    delay_ = loop_.after(delay, [this] {
      delay_ = {};
      for (auto* table : tables()) table->end_delay();
    });
  if (viewer_) viewer_(view_);
  announce_all_leaders();
  repeat_wills();
  send_questions_again();
  repeat_summonses();
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
  if (kind == table::NodeKind::summons && receive_summons(member, frame)) return;
  if (kind == table::NodeKind::testimony && receive_testimony(member, frame)) return;
  if (kind == table::NodeKind::verdict && receive_verdict(frame)) return;
  const bool of_leaders = kind == table::NodeKind::leader || kind == table::NodeKind::leaders_told;
  if (of_leaders && receive_leader(member, frame)) return;
  if (table::is_of_a_desk(frame.kind)) {
    auto* table = tables().at(static_cast<std::size_t>(table::thing_of(frame.kind)));
    if (table->receive(member, frame)) return;
    table::Statistics::add(table->statistics().strange_frames);
  } else {
    ++strange_frames_;
  }
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
      for (auto* table : tables()) table->tick();
      renew_epoch();
    });
  };
  if (loop_.here()) {
    loop_.later(std::move(work));
  } else {
    loop_.post(std::move(work));
  }
}

// Once in an epoch: the keeper tries until there is another.
void Daemon::renew_epoch() {
  bool worn = false;
  for (const auto* table : tables()) worn |= table->worn();
  if (!worn || !keeper_ || std::exchange(renewed_, view_.epoch) == view_.epoch) return;
  log::info("the fences of view {} are nearly used up: a new one is asked for", view_.epoch);
  keeper_->bump();
}

void Daemon::sweep() {
  renew_epoch();
  bool more = false;
  for (auto* table : tables())
    more |= table->retire_idle(table::coarse_now() - settings_.idle, most_retired_at_once,
                               settings_.idle) == most_retired_at_once;
  const auto pause =
      more ? 1ms : std::clamp<std::chrono::milliseconds>(settings_.idle / 4, 20ms, 5s);
  sweep_ = loop_.after(pause, [this] { sweep(); });
}

}  // namespace turno::node

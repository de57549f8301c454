// A node: its locks, its peers, its registry, and the loop that drives them.
//
// Thread safety: what comes from the loop's thread says so; the lock table may be used from any
// thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cluster/view.h"
#include "net/log.h"
#include "net/loop.h"
#include "net/peers.h"
#include "node/early_frames.h"
#include "node/keeper.h"
#include "port/host.h"
#include "registry/embedded/embedded_registry.h"
#include "table/elections/election_table.h"
#include "table/pools/pool_table.h"

namespace turno::node {

struct Settings {
  std::filesystem::path directory;  // of the registry
  std::string name;                 // of the node; empty: "node-" and its process
  std::string algorithm;            // empty: the cluster's, or the default
  std::string allocator;            // the same for reservations
  std::string peer_address = "127.0.0.1:0";
  std::string client_address;  // these three: empty is none
  std::string client_socket;   // a path, in a directory that exists or is made for this user
  std::string http_address;
  mode_t socket_mode = 0600;  // who may connect to that path
  bool exposed = false;       // other machines may connect: else all addresses are of this one
  std::chrono::milliseconds lock_delay{1000};
  std::chrono::milliseconds idle{60'000};
  std::chrono::milliseconds longest_turn{10};
  std::chrono::milliseconds drain{5000};  // how long clients may take to move when the node leaves
  std::map<std::string, std::chrono::milliseconds> latency;  // added on the way to a peer, by name
  port::Declarations declarations;
  cluster::Tangle::Without missing_rule{};  // for tests: of finding deadlocks
  // For tests: of frames to a peer; how desks behave; wrong versions of the algorithm.
  std::map<std::string, std::chrono::milliseconds> spacing;
  cluster::Rules rules{};
  std::uint8_t departure = 0, semaphore_departure = 0;  // of locks, of semaphores
  std::unique_ptr<table::LockEngine> (*make_engine)(std::string_view algorithm) =
      table::make_engine;
  std::unique_ptr<table::PoolEngine> (*make_room_engine)() = table::make_room_engine;
  std::unique_ptr<table::PoolEngine> (*make_store_engine)(std::string_view algorithm) =
      table::make_store_engine;
  bool news_in_order = true;  // of leaders: observers are not told what is older than what is known
};

inline constexpr std::string_view default_algorithm = "nxr-bh";
inline constexpr std::string_view default_allocator = "central-allocator";

using port::Findings;
using port::NodeSighting;
using table::Clock;
using table::ElectionTable;
using table::Leaders;
using table::Leadership;
using table::LockTable;
using table::Owner;
using table::PoolTable;
using table::Sighting;

class Daemon final : public port::Host {
 public:
  using Lost = LockTable::Lost;

  // Listens and joins. `lost` is told of every grant that is taken away.
  static tl::expected<std::unique_ptr<Daemon>, std::string> start(Settings settings, Lost lost);
  ~Daemon() override;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void run() { loop_.run(); }  // until stop()
  void stop() { loop_.stop(); }
  // These two when the loop does not run (any more). Tells all users that they have lost what they
  // had; nobody else gets it.
  void end();
  // So that the others wait for nothing. REQUIRES: end() was called.
  void leave();

  [[nodiscard]] net::Loop& loop() override { return loop_; }
  [[nodiscard]] LockTable& locks() override { return *locks_; }
  [[nodiscard]] PoolTable& semaphores() override { return *semaphores_; }
  [[nodiscard]] ElectionTable& elections() override { return *elections_; }
  [[nodiscard]] PoolTable& rooms() override { return *rooms_; }
  [[nodiscard]] PoolTable& stores() override { return *stores_; }
  [[nodiscard]] Tables tables() const override {
    return {locks_.get(), semaphores_.get(), elections_.get(), rooms_.get(), stores_.get()};
  }
  [[nodiscard]] std::uint64_t strange_frames() const override { return strange_frames_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const cluster::Member& self() const override { return self_; }
  [[nodiscard]] std::uint64_t next_session() override { return ++sessions_; }

  // The sockets on which the faces of the node listen, once. None if there is none.
  [[nodiscard]] std::vector<net::Fd> take_client_sockets() { return std::move(client_sockets_); }
  [[nodiscard]] net::Fd take_http_socket() { return std::move(http_socket_); }

  // In the loop's thread:
  [[nodiscard]] const cluster::View& view() const override { return view_; }
  [[nodiscard]] std::uint64_t view_changes() const override { return view_changes_; }
  [[nodiscard]] bool delayed() const override { return delay_.number != 0; }
  [[nodiscard]] const net::Peers& peers() const override { return *peers_; }
  [[nodiscard]] Clock::time_point started() const override { return started_; }
  // Why the node had to give up, if it had to: then run() ends.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const std::string& algorithm() const override { return settings_.algorithm; }
  [[nodiscard]] const std::string& allocator() const override { return settings_.allocator; }
  [[nodiscard]] std::chrono::milliseconds lock_delay() const override {
    return settings_.lock_delay;
  }
  [[nodiscard]] std::chrono::milliseconds idle() const override { return settings_.idle; }
  void ask(std::string_view name, Answer answer) override;
  [[nodiscard]] bool draining() const override { return draining_; }
  void drain(std::string_view reason) override;
  void bequeath(std::string_view member, table::Will will, Taken taken) override;

  void summon(cluster::Summons summons, Heard heard) override;
  void pass(const cluster::Verdict& verdict) override;
  [[nodiscard]] cluster::Tangle::Without missing_rule() const override {
    return settings_.missing_rule;
  }
  // Who knows the sessions of this node, if there is somebody.
  void set_witness(port::Witness* witness) { witness_ = witness; }

  [[nodiscard]] const port::Declarations& declarations() const override {
    return settings_.declarations;
  }
  [[nodiscard]] const Leaders& leaders() const override { return leaders_; }
  // Is told of every change of a leader that this node hears of, until unobserve().
  using Observer = std::function<void(const Leadership& change)>;
  std::uint64_t observe(Observer observer);
  void unobserve(std::uint64_t observer);

  // Of the faces of the node; before the loop runs. Takes in what a session of a member has, which
  // moves to one of this node. The number is that of the member's question. Says why not, or
  // nothing.
  using Heir = std::function<std::string(std::uint64_t member, std::uint64_t number,
                                         const table::Will& will)>;
  void set_heir(Heir heir) { heir_ = std::move(heir); }
  // Once, when the node is to leave: whoever is told calls stop() when all is done.
  using Drain = std::function<void(std::string_view reason)>;
  void set_drain(Drain drain) { drain_ = std::move(drain); }
  // Is told of every view that this node adopts from now on.
  using Viewer = std::function<void(const cluster::View&)>;
  void set_viewer(Viewer viewer) { viewer_ = std::move(viewer); }
  [[nodiscard]] std::string registry_trouble() const override {
    return keeper_ ? keeper_->trouble() : "";
  }
  [[nodiscard]] std::size_t open_questions() const { return questions_.size(); }

 private:
  struct Question {
    std::string name;
    Answer answer;
    Clock::time_point asked = Clock::now();
    Findings findings;
    std::set<std::uint64_t> missing;  // members that have not answered
    net::Loop::Timer patience;
  };

  Daemon(Settings settings, Lost lost) : settings_(std::move(settings)), lost_(std::move(lost)) {}
  tl::expected<void, std::string> prepare();
  tl::expected<void, std::string> check_settings() const;
  tl::expected<void, std::string> listen();
  tl::expected<void, std::string> listen_on_path();
  tl::expected<void, std::string> join();
  void adopt(const cluster::View& view);
  // False: it is too early, and there is no room to keep it.
  bool receive(std::uint64_t from, const wire::Frame& frame);
  void dispatch(std::uint64_t from, const wire::Frame& frame);
  // Questions: in questions.cc.
  void send_question(std::uint64_t number, Question& question);
  void send_questions_again();
  [[nodiscard]] table::Sightings sightings(std::string_view name) const;
  void receive_question(NodeId from, const wire::Frame& frame);
  void receive_answer(NodeId from, const wire::Frame& frame);
  // Deadlocks: in hearings.cc.
  struct Hearing;
  void send_summons(std::uint64_t number, Hearing& hearing);
  void repeat_summonses();
  bool receive_summons(NodeId from, const wire::Frame& frame);
  bool receive_testimony(NodeId from, const wire::Frame& frame);
  bool receive_verdict(const wire::Frame& frame);
  void conclude(std::uint64_t hearing);
  // Sessions that move: in wills.cc.
  void send_will(std::uint64_t number);
  void repeat_wills();
  void receive_will(NodeId from, const wire::Frame& frame);
  void receive_taken(NodeId from, const wire::Frame& frame);
  // Leaders: in leaders.cc.
  void change_leader(const Leadership& change);
  void announce(const Leadership& change);
  void announce_all_leaders();
  bool receive_leader(NodeId from, const wire::Frame& frame);
  void tell_observers(const Leadership& change);
  static void add(Findings& findings, const std::string& node, table::Sightings sightings);
  [[nodiscard]] bool only_silent_are_missing(const Question& question) const;
  void lose_patience(std::uint64_t question);
  void finish(std::uint64_t question);
  void wake(Clock::time_point at);
  void renew_epoch();
  void sweep();
  void give_up(const std::string& reason);
  Settings settings_;
  const Lost lost_;
  const Clock::time_point started_ = Clock::now();
  net::Loop loop_;
  registry::EmbeddedRegistry registry_{settings_.directory};
  cluster::Member self_;
  std::vector<net::Fd> client_sockets_;
  net::Fd http_socket_;
  cluster::View view_;
  std::unique_ptr<net::Peers> peers_;
  std::unique_ptr<LockTable> locks_;
  std::unique_ptr<PoolTable> semaphores_, rooms_, stores_;
  std::unique_ptr<ElectionTable> elections_;
  Leaders leaders_;
  std::map<std::uint64_t, Observer> observers_;
  std::uint64_t observer_numbers_ = 0;
  std::unique_ptr<Keeper> keeper_;
  EarlyFrames early_;
  Clock::time_point delay_until_{};
  std::string dead_;  // who crashed last, for people
  net::Loop::Timer delay_, sweep_, tick_;
  std::uint64_t view_changes_ = 0;
  std::uint32_t renewed_ = 0;  // the view in which another one was asked for
  std::unordered_map<std::uint64_t, Question> questions_;
  std::uint64_t question_numbers_ = 0;
  struct Bequeathing {
    std::uint64_t heir = 0;
    table::Will will;
    Taken taken;
  };
  std::map<std::uint64_t, Bequeathing> wills_;  // not answered yet
  struct Hearing {
    cluster::Summons summons;
    Heard heard;
    std::vector<cluster::Testimony> said;
    std::set<std::uint64_t> missing;  // members that have not answered
    net::Loop::Timer patience;
  };
  std::map<std::uint64_t, Hearing> hearings_;
  port::Witness* witness_ = nullptr;
  Heir heir_;
  Drain drain_;
  Viewer viewer_;
  bool draining_ = false;
  std::atomic<std::uint64_t> sessions_{0};
  std::string failure_;
  bool joined_ = false;
  // What older views have sent is heard: never, but in tests that must notice it.
  const bool hears_late_ = settings_.rules.without == cluster::Rules::Without::epochs;
  std::uint64_t strange_frames_ = 0;  // that are of no thing
  log::Limiter strange_;              // lines about strange frames
};

}  // namespace turno::node

// turno::Node: a node inside a program.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "net/credentials.h"
#include "node/embedded_elections.h"
#include "node/server.h"
#include "turno/node.h"

namespace turno {

namespace {

using table::Afterwards;
using table::Clock;
using table::Entry;
using table::Waiter;

// As for clients: a try is answered by the lock's home; only if that is stopped, it takes so long.
constexpr std::chrono::seconds longest_try{1};
// Longer times are cut, so that no clock overflows.
constexpr std::chrono::milliseconds longest_time = std::chrono::hours(24 * 365);

// A thread that waits. The table's mutex guards it. What wakes the thread lives as long as somebody
// may still use it for that.
class Sleeper final : public Waiter {
 public:
  Sleeper(const table::Owner& asker, const std::string& value) : Waiter(asker), value_(value) {}
  [[nodiscard]] std::string_view value() const override { return value_; }
  void settled(Afterwards& afterwards) override {
    if (woken) afterwards.add([wake = woken] { wake->notify_one(); });
  }

  static std::shared_ptr<std::condition_variable> of_this_thread() {
    thread_local const auto own = std::make_shared<std::condition_variable>();
    return own;
  }

  std::shared_ptr<std::condition_variable> woken;  // none: it does not sleep yet
  bool cancelled = false;                          // by the caller's stop token

 private:
  const std::string& value_;
};

Entry& entry_of(void* handle) { return *static_cast<Entry*>(handle); }

Error about(const Entry& entry, Error::Code code, std::string_view what) {
  return {code,
          std::string(table::name(entry.thing)) + " '" + entry.name + "': " + std::string(what)};
}

}  // namespace

class Node::Implementation {
 public:
  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    if (!thread_.joinable()) return;
    // Clients are no part of the program: they move, or get time to stop.
    if (self().client_address.empty() && self().client_socket.empty()) {
      server_->stop();
    } else {
      daemon().loop().post([this] { server_->drain("the program ends it"); });
    }
    thread_.join();
  }

  tl::expected<void, Error> start(node::Settings settings) {
    auto server = node::Server::start(
        std::move(settings), [this](const table::Owner& owner, table::Thing thing,
                                    const std::string& name, Fence fence, std::string_view) {
          if (owner.session == owner_.session) tell_lost({thing, name, fence.value});
        });
    if (!server) return tl::unexpected(Error{Error::Code::unavailable, server.error()});
    server_ = std::move(*server);
    owner_.session = server_->daemon().next_session();
    owner_.client = "embedded";
    owner_.from = "embedded:" + net::own_credentials().text();
    thread_ = std::thread([this] {
      server_->run();
      tell_all_lost();
    });
    return {};
  }

  [[nodiscard]] node::Daemon& daemon() { return server_->daemon(); }
  [[nodiscard]] table::LockTable& table_of(const Entry& entry) {
    return daemon().locks_of(entry.thing);
  }
  tl::expected<Lock, Error> open(table::Thing thing, std::string_view name) {
    if (name.empty() || name.size() > table::LockTable::longest_name)
      return tl::unexpected(Error{
          Error::Code::invalid,
          "the name of " + std::string(thing == table::Thing::lock ? "a lock" : "an election") +
              " has 1 to 512 bytes"});
    return &daemon().locks_of(thing).open(name);
  }
  [[nodiscard]] const cluster::Member& self() const { return server_->daemon().self(); }
  [[nodiscard]] const table::Owner& owner() const { return owner_; }

  // Waits for what was not granted at once. True: granted.
  tl::expected<void, Error> wait(Entry& entry, Sleeper& sleeper, const Request& request,
                                 const std::stop_token& stop) {
    const bool trying = request.timeout && request.timeout->count() == 0;
    auto& mutex = table_of(entry).mutex();
    {
      const std::scoped_lock guard(mutex);
      sleeper.woken = Sleeper::of_this_thread();
    }
    const std::stop_callback cancel(stop, [&] {
      const std::scoped_lock guard(mutex);
      sleeper.cancelled = true;
      sleeper.woken->notify_one();
    });
    {
      std::unique_lock guard(mutex);
      const auto settled = [&] {
        return sleeper.state != Waiter::State::waiting || sleeper.cancelled;
      };
      if (!request.timeout) {
        sleeper.woken->wait(guard, settled);
      } else {
        const auto patience = trying ? longest_try : std::min(*request.timeout, longest_time);
        sleeper.woken->wait_until(guard, Clock::now() + patience, settled);
      }
    }
    if (table_of(entry).withdraw(entry, sleeper) || sleeper.state == Waiter::State::refused)
      return tl::unexpected(sleeper.cancelled
                                ? about(entry, Error::Code::cancelled, "the wait was cancelled")
                                : about(entry, Error::Code::timeout,
                                        "not acquired in time; `turno why` tells who has it"));
    if (sleeper.state == Waiter::State::granted) return {};
    return tl::unexpected(about(entry, Error::Code::unavailable, "the node ends"));
  }

  void expire_after(const Entry& entry, Fence fence, std::chrono::milliseconds time) {
    auto& loop = server_->daemon().loop();
    loop.post([this, &loop, &table = table_of(entry), key = key_of(entry, fence),
               ttl = std::min(time, longest_time)] {
      auto& timer = timers_[key];
      loop.cancel(timer);
      timer = loop.after(ttl, [this, &table, key] {
        timers_.erase(key);
        table.take_back(std::get<1>(key), Fence{std::get<2>(key)}, "its time to live ran out");
      });
    });
    expiring_.store(true, std::memory_order_relaxed);
  }

  std::stop_token lost_token(Entry& entry, Fence fence) {
    std::unique_lock guard(mutex_);
    auto& source = sources_[key_of(entry, fence)];
    watched_.store(true, std::memory_order_relaxed);
    auto token = source.get_token();
    guard.unlock();
    if (!table_of(entry).holds(entry, fence)) source.request_stop();
    return token;
  }

  // What was made for this grant and is not needed any more.
  void tidy(const Entry& entry, Fence fence) {
    const auto key = key_of(entry, fence);
    if (watched_.load(std::memory_order_relaxed)) {
      const std::scoped_lock guard(mutex_);
      sources_.erase(key);
    }
    if (expiring_.load(std::memory_order_relaxed))
      server_->daemon().loop().post([this, key] {
        const auto found = timers_.find(key);
        if (found == timers_.end()) return;
        server_->daemon().loop().cancel(found->second);
        timers_.erase(found);
      });
  }
  // Whether tidy() would do anything: most programs use neither.
  [[nodiscard]] bool untidy() const {
    return watched_.load(std::memory_order_relaxed) || expiring_.load(std::memory_order_relaxed);
  }

 private:
  using Key = std::tuple<table::Thing, std::string, std::uint64_t>;  // and the fence
  static Key key_of(const Entry& entry, Fence fence) {
    return {entry.thing, entry.name, fence.value};
  }

  // What users hang on it runs in the loop's thread: whoever takes a lock away waits for nobody.
  void tell_lost(const Key& key) {
    if (!watched_.load(std::memory_order_relaxed)) return;
    std::optional<std::stop_source> source;
    {
      const std::scoped_lock guard(mutex_);
      const auto found = sources_.find(key);
      if (found != sources_.end()) source = found->second;
    }
    if (source)
      server_->daemon().loop().post([source = *source]() mutable { source.request_stop(); });
  }

  // The node has ended, perhaps against its will, and its loop does nothing more.
  void tell_all_lost() {
    std::vector<std::stop_source> sources;
    {
      const std::scoped_lock guard(mutex_);
      for (const auto& [key, source] : sources_) sources.push_back(source);
    }
    for (auto& source : sources) source.request_stop();
  }

  std::unique_ptr<node::Server> server_;
  table::Owner owner_;
  std::thread thread_;
  std::map<Key, net::Loop::Timer> timers_;  // the loop's own
  std::mutex mutex_;                        // of sources_
  std::map<Key, std::stop_source> sources_;
  std::atomic<bool> watched_{false}, expiring_{false};  // once used
};

Node::Node(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Node::~Node() = default;

tl::expected<std::unique_ptr<Node>, Error> Node::start(const Options& options) {
  if (options.directory.empty())
    return tl::unexpected(Error{Error::Code::invalid, "a node needs a directory"});
  node::Settings settings;
  settings.directory = options.directory;
  settings.name = options.name;
  settings.algorithm = options.algorithm;
  settings.lock_delay = options.lock_delay;
  settings.idle = options.idle;
  settings.client_address = options.client_address;
  settings.client_socket = options.client_socket;
  settings.http_address = options.http_address;
  settings.exposed = options.exposed;
  auto implementation = std::make_unique<Implementation>();
  if (auto started = implementation->start(std::move(settings)); !started)
    return tl::unexpected(std::move(started.error()));
  return std::unique_ptr<Node>(new Node(std::move(implementation)));
}

const std::string& Node::name() const noexcept { return implementation_->self().name; }
const std::string& Node::client_address() const noexcept {
  return implementation_->self().client_address;
}
const std::string& Node::http_address() const noexcept {
  return implementation_->self().http_address;
}

tl::expected<Node::Lock, Error> Node::open(std::string_view name) {
  return implementation_->open(table::Thing::lock, name);
}

tl::expected<Node::Lock, Error> Node::open_election(std::string_view name) {
  return implementation_->open(table::Thing::election, name);
}

tl::expected<std::optional<Leader>, Error> Node::leader(std::string_view election) {
  return node::leader_of(implementation_->daemon(), election);
}

tl::expected<std::unique_ptr<Observation>, Error> Node::observe(std::string_view election,
                                                                LeaderChanged changed) {
  return node::observe(implementation_->daemon(), election, std::move(changed));
}

void Node::close(Lock lock) noexcept {
  auto& entry = entry_of(lock);
  implementation_->table_of(entry).close(entry);
}

tl::expected<Grant, Error> Node::acquire(Lock lock, const Request& request, std::stop_token stop) {
  auto& entry = entry_of(lock);
  if (request.timeout && request.timeout->count() < 0)
    return tl::unexpected(about(entry, Error::Code::invalid, "a timeout is not negative"));
  if (request.ttl && request.ttl->count() <= 0)
    return tl::unexpected(about(entry, Error::Code::invalid, "a time to live is positive"));
  if (stop.stop_requested())
    return tl::unexpected(about(entry, Error::Code::cancelled, "the wait was cancelled"));
  if (request.value.size() > table::longest_value)
    return tl::unexpected(about(entry, Error::Code::invalid, "the value has at most 4096 bytes"));
  auto& locks = implementation_->table_of(entry);
  Sleeper sleeper(implementation_->owner(), request.value);
  sleeper.pins = true;
  const bool trying = request.timeout && request.timeout->count() == 0;
  if (!(trying ? locks.attempt(entry, sleeper) : locks.acquire(entry, sleeper)))
    if (auto waited = implementation_->wait(entry, sleeper, request, stop); !waited)
      return tl::unexpected(std::move(waited.error()));
  if (request.ttl) implementation_->expire_after(entry, sleeper.fence, *request.ttl);
  return Grant(*this, &entry, sleeper.fence.value);
}

void Node::release(Hold hold, std::uint64_t fence) noexcept {
  auto& entry = entry_of(hold);
  if (implementation_->untidy()) implementation_->tidy(entry, Fence{fence});
  implementation_->table_of(entry).give_back(entry, Fence{fence});
}

tl::expected<void, Error> Node::renew(Hold hold, std::uint64_t fence,
                                      std::chrono::milliseconds ttl) {
  auto& entry = entry_of(hold);
  if (ttl.count() <= 0)
    return tl::unexpected(about(entry, Error::Code::invalid, "a time to live is positive"));
  if (lost(hold, fence))
    return tl::unexpected(about(entry, Error::Code::lost, "it was lost before it was renewed"));
  implementation_->expire_after(entry, Fence{fence}, ttl);
  return {};
}

std::string_view Node::name(Hold hold) const noexcept { return entry_of(hold).name; }

bool Node::lost(Hold hold, std::uint64_t fence) const noexcept {
  auto& entry = entry_of(hold);
  return !implementation_->table_of(entry).holds(entry, Fence{fence});
}

std::stop_token Node::lost_token(Hold hold, std::uint64_t fence) {
  return implementation_->lost_token(entry_of(hold), Fence{fence});
}

}  // namespace turno

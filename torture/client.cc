#include "client.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "core/random.h"
#include "turno/turno.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;

std::int64_t ns(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

class Life {
 public:
  Life(Board& board, const ClientOptions& options)
      : board_(board),
        records_(board.clients[options.number]),
        options_(options),
        random_(options.seed * 1000 + options.number) {}

  int run() {
    while (board_.phase == Board::Phase::running) {
      if (connected()) turn();
    }
    return last_round() ? 0 : 1;
  }

 private:
  bool connected() {
    if (client_ && random_.below(200) != 0) return true;
    client_.reset();
    const auto node = static_cast<std::uint32_t>(random_.below(board_.nodes));
    if (!board_.alive[node]) {
      if (random_.below(16) == 0) std::this_thread::sleep_for(1ms);
      return false;
    }
    Client::Options options;
    options.name = "torture-" + std::to_string(options_.number);
    auto made = Client::connect(std::string("unix:") + board_.sockets[node], options);
    if (!made) {
      std::this_thread::sleep_for(5ms);
      return false;
    }
    client_ = std::move(*made);
    records_.node = node;
    return true;
  }

  std::uint32_t some_lock() {
    const auto hot = std::min(options_.hot_locks, options_.locks);
    if (hot > 0 && (hot == options_.locks || random_.below(2) == 0))
      return static_cast<std::uint32_t>(random_.below(hot));
    return hot + static_cast<std::uint32_t>(random_.below(options_.locks - hot));
  }

  // Types are called by their numbers. All: none of any has got lost.
  [[nodiscard]] std::vector<Claim> all_claims() const {
    std::vector<Claim> claims;
    for (std::size_t type = 0; type < options_.things.resources.size(); ++type)
      claims.push_back(
          {std::to_string(type), options_.things.resources[type], options_.things.resources[type]});
    return claims;
  }
  // Mostly of one type, sometimes of several.
  std::vector<Claim> some_claims() {
    auto claims = all_claims();
    while (claims.size() > 1 && random_.below(3) != 0)
      claims.erase(claims.begin() + static_cast<std::ptrdiff_t>(random_.below(claims.size())));
    for (auto& claim : claims)
      claim.count = 1 + static_cast<std::uint32_t>(random_.below(claim.of));
    return claims;
  }
  // What is judged by itself: a lock, each permit, each instance of all types, numbered through.
  struct Unit {
    std::uint32_t number = 0;
    std::uint64_t fence = 0;
  };
  [[nodiscard]] std::vector<Unit> units_of(const Grant& grant) const {
    std::vector<Unit> units;
    for (const auto& resource : grant.resources()) {
      auto number = resource.number;
      for (std::size_t type = 0; type < std::stoul(resource.type); ++type)
        number += options_.things.resources[type];
      units.push_back({number, resource.fence});
    }
    for (const auto permit : grant.permits()) units.push_back({permit, grant.fence()});
    if (units.empty()) units.push_back({0, grant.fence()});
    return units;
  }

  void turn() {
    Request request;
    std::stop_source stop;
    std::jthread canceller;
    switch (random_.below(8)) {
      case 0:
        request.timeout = 0ms;
        break;
      case 1:
      case 2:
        request.timeout = std::chrono::milliseconds(1 + random_.below(20));
        break;
      case 3:
        canceller = std::jthread([&stop, wait = random_.below(5000)] {
          std::this_thread::sleep_for(std::chrono::microseconds(wait));
          stop.request_stop();
        });
        break;
      default:
        // For ever; but a run ends, and a node may be stopped.
        request.timeout = 20s;
    }
    request.claims = some_claims();
    const auto& things = options_.things;
    if (things.permits > 0 && random_.below(2) == 0)
      request.permits = 1 + static_cast<std::uint32_t>(random_.below(things.permits));
    const auto group = static_cast<std::uint32_t>(random_.below(std::max(1U, things.groups)));
    if (random_.below(10) == 0) request.ttl = std::chrono::milliseconds(1 + random_.below(30));
    const bool keep = hold(some_lock(), group, request, stop.get_token());
    if (!keep) client_.reset();
  }

  tl::expected<Grant, Error> acquire(const std::string& name, const Request& request,
                                     const std::stop_token& stop) {
    const auto& things = options_.things;
    if (!options_.things.resources.empty())
      return Reservation(*client_, request.claims, name).acquire(request, stop);
    if (things.groups > 0) return Room(*client_, name).acquire(request, stop);
    if (things.elections) {
      const auto value = std::to_string(options_.number);
      return Election(*client_, name).campaign(value, request, stop);
    }
    if (things.permits == 0) return client_->acquire(name, request, stop);
    return Semaphore(*client_, name, things.permits).acquire(request, stop);
  }

  // False: the session is to be ended abruptly.
  bool hold(std::uint32_t lock, std::uint32_t group, Request request, const std::stop_token& stop) {
    if (options_.things.groups > 0) {
      request.group = std::to_string(group);
      request.of = capacity_of(lock, group);
    }
    const auto asked = now_ns();
    const auto node = records_.node.load();
    records_.wanted = lock;
    records_.waits_since = asked;
    auto grant = acquire("torture-" + std::to_string(lock), request, stop);
    const auto granted = now_ns();
    records_.waits_since = 0;
    note_node();
    if (!grant) {
      if (granted - asked > Records::short_wait)
        note_wait({options_.number, lock, node, asked, granted});
      return refused(grant.error());
    }
    ++grants_;
    const auto units = units_of(*grant);
    const auto at = records_.count.load();
    if (at + units.size() > Records::most) return true;
    const std::span records(records_.holds + at, units.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      records[i] = {.client = options_.number,
                    .lock = lock,
                    .group = group,
                    .capacity = request.of,
                    .permit = units[i].number,
                    .fence = units[i].fence,
                    .asked = asked,
                    .granted = granted,
                    .node = records_.node};
      if (request.ttl) records[i].expires = asked + ns(*request.ttl);
    }
    records_.count.store(at + static_cast<std::uint32_t>(units.size()), std::memory_order_release);
    use(*grant, records, request);
    return random_.below(50) != 0;  // sometimes the session ends with the lock held
  }

  // Until it is over, or is not needed any more.
  void use(Grant& grant, std::span<Hold> records, const Request& request) {
    const auto end = [&] {
      for (auto& record : records) {
        std::int64_t open = 0;
        std::atomic_ref<std::int64_t>(record.ended).compare_exchange_strong(open, now_ns());
      }
    };
    const std::stop_callback loss(grant.lost_token(), [&] {
      end();
      ++records_.lost;
    });
    const bool long_one = random_.below(options_.long_holds) == 0;
    const auto longest = long_one ? options_.longest_long_hold : options_.longest_hold;
    const auto time =
        std::chrono::microseconds(random_.below(static_cast<std::uint64_t>(longest.count())));
    if (time > 0us) std::this_thread::sleep_for(time);
    if (request.ttl && random_.below(2) == 0) {
      const auto before = now_ns();
      if (grant.renew(*request.ttl)) {
        for (auto& record : records)
          std::atomic_ref<std::int64_t>(record.expires).store(before + ns(*request.ttl));
        ++records_.renewed;
        std::this_thread::sleep_for(time);
      }
    }
    end();
  }

  // The client goes to another node by itself when its own dies or leaves. Nodes are called n0,
  // n1...
  void note_node() {
    const auto name = client_->identity().node;
    std::uint32_t node = 0;
    if (name.size() > 1 &&
        std::from_chars(name.data() + 1, name.data() + name.size(), node).ec == std::errc())
      records_.node = node;
  }

  void note_wait(const Wait& wait) {
    const auto at = records_.wait_count.load();
    if (at == Records::most_waits) return;
    records_.waits[at] = wait;
    records_.wait_count.store(at + 1, std::memory_order_release);
  }

  bool refused(const Error& error) {
    switch (error.code) {
      case Error::Code::timeout:
        ++records_.timeouts;
        return true;
      case Error::Code::cancelled:
        ++records_.cancelled;
        return true;
      case Error::Code::disconnected:
      case Error::Code::unavailable:
        ++records_.disconnected;
        return false;
      default:
        ++records_.errors;
        std::snprintf(records_.last_error, sizeof records_.last_error, "%s", error.message.c_str());
        return false;
    }
  }

  // When the faults are over, every lock can be had.
  bool last_round() {
    for (std::uint32_t lock = 0; lock < options_.locks; ++lock) {
      const bool mine = lock < options_.hot_locks || lock % options_.parts == options_.part;
      for (std::uint32_t group = 0; mine && group < std::max(1U, options_.things.groups); ++group)
        if (!be_served(lock, group)) return false;
    }
    return true;
  }
  bool be_served(std::uint32_t lock, std::uint32_t group) {
    const auto deadline = now_ns() + ns(options_.last_patience);
    const auto before = grants_;
    while (grants_ == before && now_ns() < deadline) {
      if (!connected()) continue;
      // All permits, all resources: none has got lost.
      Request all{.timeout = options_.last_patience,
                  .permits = std::max(1U, options_.things.permits)};
      all.claims = all_claims();
      if (!hold(lock, group, all, {})) client_.reset();
    }
    if (grants_ > before) return true;
    std::snprintf(records_.last_error, sizeof records_.last_error,
                  "lock %u was not granted in the last round", lock);
    return false;
  }

  Board& board_;
  Records& records_;
  const ClientOptions options_;
  Random random_;
  std::unique_ptr<Client> client_;
  std::uint64_t grants_ = 0;
};

}  // namespace

int live(Board& board, const ClientOptions& options) { return Life(board, options).run(); }

}  // namespace turno::torture

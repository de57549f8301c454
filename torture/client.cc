#include "client.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "core/random.h"
#include "turno/turno.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;

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
    const bool served = last_round();
    records_.finished = true;
    return served ? 0 : 1;
  }

 private:
  bool connected() {
    if (client_ && random_.below(200) != 0) return true;
    client_.reset();
    const auto node = random_.below(board_.nodes);
    if (!board_.alive[node]) {
      std::this_thread::sleep_for(1ms);
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
    return true;
  }

  void turn() {
    const auto lock = static_cast<std::uint32_t>(random_.below(options_.locks));
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
    if (random_.below(10) == 0) request.ttl = std::chrono::milliseconds(1 + random_.below(4));
    const bool keep = hold(lock, request, stop.get_token());
    if (!keep) client_.reset();
  }

  // False: the session is to be ended abruptly.
  bool hold(std::uint32_t lock, const Request& request, const std::stop_token& stop) {
    const auto asked = now_ns();
    auto grant = client_->acquire("torture-" + std::to_string(lock), request, stop);
    if (!grant) return refused(grant.error());
    const auto granted = now_ns();
    const auto at = records_.count.load();
    if (at == Records::most) return true;
    auto& record = records_.holds[at];
    record = {options_.number, lock, grant->fence(), asked, granted, 0};
    if (request.ttl) record.expires = asked + std::chrono::nanoseconds(*request.ttl).count();
    records_.count.store(at + 1, std::memory_order_release);
    std::atomic_ref<std::int64_t> ended(record.ended);
    const auto end = [&] {
      std::int64_t open = 0;
      ended.compare_exchange_strong(open, now_ns());
    };
    {
      const std::stop_callback loss(grant->lost_token(), [&] {
        end();
        ++records_.lost;
      });
      const auto time = random_.below(static_cast<std::uint64_t>(options_.longest_hold.count()));
      if (time > 0) std::this_thread::sleep_for(std::chrono::microseconds(time));
      end();
    }
    return random_.below(50) != 0;  // sometimes the session ends with the lock held
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

  // When the faults are over, everybody gets every lock.
  bool last_round() {
    for (std::uint32_t lock = 0; lock < options_.locks; ++lock) {
      const auto deadline = now_ns() + std::chrono::nanoseconds(options_.last_patience).count();
      const auto before = records_.count.load();
      while (records_.count.load() == before && now_ns() < deadline) {
        if (!connected()) continue;
        if (!hold(lock, {.timeout = options_.last_patience}, {})) client_.reset();
      }
      if (records_.count.load() == before) {
        std::snprintf(records_.last_error, sizeof records_.last_error,
                      "lock %u was not granted in the last round", lock);
        return false;
      }
    }
    return true;
  }

  Board& board_;
  Records& records_;
  const ClientOptions options_;
  Random random_;
  std::unique_ptr<Client> client_;
};

}  // namespace

int live(Board& board, const ClientOptions& options) { return Life(board, options).run(); }

}  // namespace turno::torture

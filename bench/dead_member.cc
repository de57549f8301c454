// A member of five is killed while clients of the other four take permits of a semaphore and give
// them back, and a client of the fifth holds a few: for how long does nobody get one, and how many
// are closed for how long? Everything is read from the clients' own records.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "families.h"

namespace turno::bench {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Case {
  int permits;
  int held;  // by the one that is killed
  int users;
  milliseconds hold;  // each permit
};

struct Records {
  struct Change {
    Clock::time_point at;
    int in_use;  // by the clients of the four, as they know it
  };
  int in_use = 0;
  std::vector<Clock::time_point> grants;
  std::vector<Change> changes;

  void change(int by) {
    in_use += by;
    changes.push_back({Clock::now(), in_use});
    if (by > 0) grants.push_back(changes.back().at);
  }
};

// Takes a permit, keeps it for a while, gives it back.
class User final : public Talker {
 public:
  User(const std::string& address, const Case& situation, Records& records)
      : connection_(address), case_(situation), records_(records) {}
  [[nodiscard]] int descriptor() const override { return connection_.descriptor(); }
  void begin() override {
    connection_.write(command({"PERMIT", "s", "OF", std::to_string(case_.permits)}));
  }
  Progress read() override {
    Progress progress;
    connection_.receive();
    while (const auto* reply = connection_.next()) {
      if (reply->kind == wire::Reply::Kind::array) {
        records_.change(1);
        progress.pause = case_.hold;
      } else {
        ++progress.finished;
        begin();
      }
    }
    return progress;
  }
  void go_on() override {
    records_.change(-1);
    connection_.write(command({"RELEASE", "s"}));
  }

 private:
  RespConnection connection_;
  const Case& case_;
  Records& records_;
};

double ms(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

// The longest time without a grant between two moments.
double longest_gap(const Records& records, Clock::time_point from, Clock::time_point to) {
  Clock::duration longest{};
  auto last = from;
  for (const auto at : records.grants) {
    if (at < from || at > to) continue;
    longest = std::max(longest, at - last);
    last = at;
  }
  return ms(std::max(longest, to - last));
}

// The most that were in use at once between two moments.
int most_in_use(const Records& records, Clock::time_point from, Clock::time_point to) {
  int most = 0;
  for (const auto& change : records.changes) {
    if (change.at > to) break;
    most = change.at < from ? change.in_use : std::max(most, change.in_use);
  }
  return most;
}

void kill_a_member(Place& place, const Case& situation) {
  using namespace std::chrono_literals;
  static int number = 0;
  TurnoCluster cluster(place.turno(), place.path() / fmt::format("dead-{}", ++number), 5);
  const RespConnection holder(cluster.tcp().back());
  holder.write(command({"PERMIT", "s", "OF", std::to_string(situation.permits), "COUNT",
                        std::to_string(situation.held)}));
  Records records;
  std::vector<std::unique_ptr<Talker>> talkers;
  talkers.reserve(static_cast<std::size_t>(situation.users));
  for (int i = 0; i < situation.users; ++i)
    talkers.push_back(
        std::make_unique<User>(cluster.tcp()[static_cast<std::size_t>(i % 4)], situation, records));
  constexpr milliseconds before = 3s, after = 4s, step = 250ms;
  const auto begin = Clock::now();
  Clock::time_point killed{};
  drive(talkers, before + after, [&] {
    if (killed == Clock::time_point() && Clock::now() >= begin + before) {
      killed = Clock::now();
      ::kill(cluster.programs().back().pid(), SIGKILL);
    }
    return true;
  });
  fmt::print(
      "{} clients of four nodes keep each permit for {} ms; the fifth node holds {} of {} and is "
      "killed\n",
      situation.users, situation.hold.count(), situation.held, situation.permits);
  fmt::print(
      "  the longest time in which nobody got a permit: {:.0f} ms in the second before, {:.0f} ms "
      "in the {} s after\n",
      longest_gap(records, killed - 1s, killed),
      longest_gap(records, killed, killed + after - 100ms), after / 1s);
  fmt::print("  the most permits in use at once, each {} ms: {} before", step.count(),
             most_in_use(records, killed - step, killed));
  for (auto at = killed; at + step <= killed + after - 100ms; at += step)
    fmt::print("{}{}", at == killed ? "; then " : " ", most_in_use(records, at, at + step));
  fmt::print("\n\n");
  std::fflush(stdout);
}

}  // namespace

void dead_member(Place& place) {
  using namespace std::chrono_literals;
  // Fewer users than permits; and more, so that every permit that is not closed is in use.
  kill_a_member(place, {.permits = 20, .held = 1, .users = 8, .hold = 5ms});
  kill_a_member(place, {.permits = 20, .held = 1, .users = 40, .hold = 20ms});
  kill_a_member(place, {.permits = 100, .held = 5, .users = 20, .hold = 5ms});
  kill_a_member(place, {.permits = 100, .held = 5, .users = 120, .hold = 100ms});
}

}  // namespace turno::bench

#include "held.h"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster.h"
#include "core/random.h"
#include "speaker.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

class Experiment {
 public:
  Experiment(const Options& options, const Held& held)
      : options_(options),
        held_(held),
        random_(options.seed),
        cluster_(options.node, *board_, options.slack) {}

  Report run() {
    std::filesystem::create_directories(options_.node.directory);
    for (int i = 0; i < 3; ++i) cluster_.start();
    if (!cluster_.settle()) return failed("the nodes did not come up");
    holder_ = Speaker::connect(cluster_.socket(1));
    waiter_ = Speaker::connect(cluster_.socket(0));
    if (!holder_ || !waiter_) return failed("a node took no client");
    if (!take_all()) return failed("not all locks were granted");
    change();
    ask();
    listen();
    cluster_.end();
    for (const auto& complaint : cluster_.complaints()) report_.complaints.push_back(complaint);
    report_.summary = fmt::format("{} locks held, {} waits of others, {} of them granted too",
                                  held_.locks, held_.waits, doubly_);
    return std::move(report_);
  }

 private:
  Report failed(std::string_view why) {
    report_.complaints.emplace_back(why);
    return std::move(report_);
  }
  // Long, so that the reports on them take a while.
  static std::string name_of(std::uint64_t lock) {
    return "held-" + std::to_string(lock) + "-" + std::string(480, 'x');
  }

  bool take_all() {
    constexpr std::uint32_t batch = 1000;
    for (std::uint32_t first = 0; first < held_.locks; first += batch) {
      for (std::uint32_t i = first; i < first + batch; ++i) holder_->say({"LOCK", name_of(i)});
      for (std::uint32_t i = 0; i < batch; ++i) {
        const auto reply = holder_->hear(options_.scaled(10s));
        if (!reply || reply->kind != wire::Reply::Kind::integer) return false;
      }
    }
    return true;
  }

  // The third node goes, and the holder's node has thousands of reports to make.
  void change() {
    const auto before = view_of_the_holder();
    if (held_.change == Held::Change::leave) {
      cluster_.tell_to_leave(2);
    } else {
      cluster_.kill(2);
    }
    if (held_.stop <= 0ms) return;
    const auto end = now_ns() + std::chrono::nanoseconds(options_.scaled(10s)).count();
    while (view_of_the_holder() == before && now_ns() < end) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(Milliseconds(random_.below(20)));
    cluster_.pause(1, held_.stop);
  }
  // The line of INFO that tells the epoch.
  std::string view_of_the_holder() {
    holder_->say({"INFO"});
    const auto reply = holder_->hear(options_.scaled(10s));
    if (!reply) return {};
    const auto begin = reply->text.find("epoch:");
    return begin == std::string::npos
               ? ""
               : reply->text.substr(begin, reply->text.find('\r', begin) - begin);
  }

  void ask() {
    waiter_->say({"HELLO", "3"});
    for (std::uint32_t i = 0; i < held_.waits; ++i) {
      const auto lock = random_.below(held_.locks);
      waiter_->say({"LOCK", name_of(lock), "ASYNC"});
    }
  }

  void listen() {
    const auto patience =
        options_.scaled(2s + held_.stop + std::min(4 * options_.node.idle, 8000ms));
    const auto end = now_ns() + std::chrono::nanoseconds(patience).count();
    while (now_ns() < end) {
      cluster_.tick();
      const auto reply = waiter_->hear(20ms);
      if (!reply || reply->kind != wire::Reply::Kind::push || reply->elements.size() < 4) continue;
      if (reply->elements[0].text == "granted") judge(reply->elements[2].text);
    }
  }

  // Somebody got it. Its holder has neither released nor lost it, and its node says so too.
  void judge(const std::string& lock) {
    holder_->say({"RENEW", lock, "600000"});
    const auto reply = holder_->hear(options_.scaled(10s) + held_.stop);
    const bool believes = reply && reply->kind == wire::Reply::Kind::integer && reply->integer == 1;
    ++doubly_;
    if (report_.complaints.size() < 5)
      report_.complaints.push_back(lock + " was granted to another while it was held" +
                                   (believes ? ", and its holder could renew it" : ""));
  }

  const Options options_;
  const Held held_;
  Random random_;
  const decltype(Board::make()) board_ = Board::make();
  Cluster cluster_;
  std::unique_ptr<Speaker> holder_, waiter_;
  std::uint32_t doubly_ = 0;
  Report report_;
};

}  // namespace

Report hold_many(const Options& options, const Held& held) {
  return Experiment(options, held).run();
}

}  // namespace turno::torture

#include "field/process.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "field/clock.h"
#include "field/mesh.h"
#include "field/stable.h"

namespace turno::field {

namespace {

class Process final : public Medium {
 public:
  Process(const Cast& cast, const sim::Options& options, const Layout& layout, double scale,
          Board& board, Life life)
      : layout_(layout),
        board_(board),
        life_(std::move(life)),
        clock_{.scale = scale},
        mesh_(
            board, life_.host, std::move(life_.news), cast.bouncing,
            {.came = [this](Envelope envelope) { come(std::move(envelope)); },
             .lost = [this](Envelope envelope) { host_.bounce(std::move(envelope)); },
             .crash = [this](NodeId dead, Time crashed) { host_.learn_of_crash(dead, crashed); }}),
        host_(cast, options, layout, life_.host, *this, life_.number) {}

  [[noreturn]] void run() {
    if (life_.number == 0) ++board_.ready;
    while (board_.start_ns == 0) mesh_.exchange(200'000);
    clock_.start_ns = board_.start_ns;
    sleep_ns(std::max<std::int64_t>(0, clock_.start_ns - monotonic_ns()));
    if (life_.number == 0) {
      host_.start();
    } else {
      host_.recover(last_stable(life_.stable));
    }
    for (;;) {
      host_.work();
      write_records();
      board_.cells[life_.host].steps++;
      const auto next = host_.next();
      mesh_.exchange(next == std::numeric_limits<Time>::max() ? 1'000'000'000
                                                              : clock_.real_until(next));
    }
  }

  Time now() override { return clock_.now(); }
  void send(const Envelope& envelope) override {
    mesh_.send(layout_.host_of(envelope.to), envelope);
  }
  void write(const Record& record) override { field::write(record, records_); }
  void entered(Fence fence) override {
    ++entries_;
    if (board_.last_fence.exchange(fence.value) != fence.value) ++board_.sessions;
  }
  void expect(NodeId at, int more) override { board_.cells[layout_.host_of(at)].pending += more; }
  void delivered(const Envelope& envelope) override {
    if (const auto host = layout_.host_of(envelope.from); host != life_.host)
      mesh_.confirm(host, envelope);
  }
  void keep(NodeId /*node*/, const std::string& stable) override {
    keep_stable(life_.stable, stable);
  }

 private:
  // A port of somebody who is dead may be given to another: that one's mail is not ours.
  void come(Envelope envelope) {
    if (layout_.host_of(envelope.to) == life_.host) host_.take(std::move(envelope));
  }

  // Before what follows from the steps is sent; a process may be killed in between.
  void write_records() {
    for (std::string_view rest = records_; !rest.empty();) {
      const auto count = ::write(life_.records, rest.data(), rest.size());
      if (count < 0) std::abort();
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
    records_.clear();
    board_.entries += std::exchange(entries_, 0);
  }

  Layout layout_;
  Board& board_;
  Life life_;
  RunClock clock_;
  Mesh mesh_;
  Host host_;
  std::string records_;  // not yet written
  std::uint64_t entries_ = 0;
};

}  // namespace

void live(const Cast& cast, const sim::Options& options, const Layout& layout, double scale,
          Board& board, Life life) {
  ::prctl(PR_SET_TIMERSLACK, 1);  // wakes up when it should, and not 50 microseconds later
  Process(cast, options, layout, scale, board, std::move(life)).run();
}

}  // namespace turno::field

#include "cli/mpi/ranks.h"

#include <mpi.h>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

#include "core/usage_error.h"
#include "field/causality.h"
#include "field/clock.h"
#include "field/host.h"
#include "field/mesh.h"

namespace turno::cli {

namespace {

using field::Envelope;
using field::Record;

enum Tag : int { message_tag, status_tag, stop_tag };

// The ranks that have a node: the first ones, if there are fewer nodes than ranks.
class Ranks {
 public:
  explicit Ranks(std::size_t nodes) {
    int world = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    const bool has_node = static_cast<std::size_t>(world) < nodes;
    MPI_Comm_split(MPI_COMM_WORLD, has_node ? 0 : MPI_UNDEFINED, world, &all_);
    if (!has_node) return;
    MPI_Comm_rank(all_, &self_);
    MPI_Comm_size(all_, &count_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    if (count_ > 0) MPI_Comm_free(&all_);
  }

  [[nodiscard]] bool idle() const { return count_ == 0; }
  [[nodiscard]] int self() const { return self_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Comm all() const { return all_; }

 private:
  MPI_Comm all_ = MPI_COMM_NULL;
  int self_ = 0, count_ = 0;
};

// What a rank tells the first now and then: what it has counted so far.
struct Status {
  std::uint64_t entries = 0, sessions = 0, sent = 0, taken = 0;
  std::int64_t pending = 0;  // of its own
  bool operator==(const Status&) const = default;
};

class Rank final : public field::Medium {
 public:
  Rank(const Ranks& ranks, const field::Cast& cast, const sim::Options& options,
       const field::Plan& plan, const field::Layout& layout)
      : ranks_(ranks),
        options_(options),
        plan_(plan),
        layout_(layout),
        users_(has_users(cast.info.primitive)),
        host_(cast, options, layout, static_cast<std::size_t>(ranks.self()), *this),
        known_(layout.hosts) {}

  // Runs until the first rank says that it is over.
  void run() {
    MPI_Barrier(ranks_.all());
    clock_ = {.start_ns = field::monotonic_ns(), .scale = plan_.scale};
    host_.start();
    while (!stopped_) {
      host_.work();
      read_mail();
      forget_sent();
      tell();
      if (ranks_.self() == 0 && over()) stop_all();
      // MPI has nothing to wait on together with a clock.
      field::sleep_ns(std::clamp<std::int64_t>(clock_.real_until(host_.next()), 1'000, 100'000));
    }
    read_the_rest();
  }

  [[nodiscard]] std::string& records() { return records_; }
  [[nodiscard]] bool quiet() const { return quiet_; }

  field::Time now() override { return clock_.now(); }
  void send(const Envelope& envelope) override {
    auto& post = posts_.emplace_back();
    field::write(envelope, post.bytes);
    MPI_Isend(post.bytes.data(), static_cast<int>(post.bytes.size()), MPI_BYTE,
              static_cast<int>(layout_.host_of(envelope.to)), message_tag, ranks_.all(),
              &post.request);
  }
  void write(const Record& record) override { field::write(record, records_); }
  void entered(Fence) override { ++status_.entries; }
  // What is sent elsewhere is counted here as sent and there as taken.
  void expect(NodeId at, int more) override {
    const bool here = layout_.host_of(at) == static_cast<std::size_t>(ranks_.self());
    here ? void(status_.pending += more) : void(++status_.sent);
  }

 private:
  struct Post {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void read_mail() {
    for (;;) {
      int there = 0;
      MPI_Status mail;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_.all(), &there, &mail);
      if (there == 0) return;
      int size = 0;
      MPI_Get_count(&mail, MPI_BYTE, &size);
      std::string bytes(static_cast<std::size_t>(size), '\0');
      MPI_Recv(bytes.data(), size, MPI_BYTE, mail.MPI_SOURCE, mail.MPI_TAG, ranks_.all(),
               MPI_STATUS_IGNORE);
      if (mail.MPI_TAG == stop_tag) stopped_ = true;
      if (mail.MPI_TAG == status_tag)
        std::copy_n(bytes.data(), sizeof(Status),
                    reinterpret_cast<char*>(&known_[static_cast<std::size_t>(mail.MPI_SOURCE)]));
      if (mail.MPI_TAG != message_tag) continue;
      ++status_.taken;
      ++status_.pending;  // it is here now
      host_.take(field::read_envelope(bytes));
    }
  }

  void forget_sent() {
    posts_.remove_if([](Post& post) {
      int done = 0;
      MPI_Test(&post.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  void tell() {
    if (status_ == told_) return;
    told_ = status_;
    known_[0] = ranks_.self() == 0 ? status_ : known_[0];
    if (ranks_.self() == 0) return;
    auto& post = posts_.emplace_back();
    post.bytes.assign(reinterpret_cast<const char*>(&told_), sizeof told_);
    MPI_Isend(post.bytes.data(), sizeof told_, MPI_BYTE, 0, status_tag, ranks_.all(),
              &post.request);
  }

  // Only the first rank asks.
  bool over() {
    Status sum;
    bool begun = true;
    for (const auto& status : known_) {
      sum.entries += status.entries;
      sum.sent += status.sent;
      sum.taken += status.taken;
      sum.pending += status.pending;
    }
    if (sum.entries != last_.entries) progress_ = field::monotonic_ns();
    // What one has sent, another has taken, and nothing changed for a while.
    const auto now = field::monotonic_ns();
    if (!(sum == last_)) changed_ = now;
    last_ = sum;
    begun = clock_.now() > 0 && now - clock_.start_ns > 50'000'000;
    quiet_ = begun && sum.pending == 0 && sum.sent == sum.taken && now - changed_ > 20'000'000;
    if (users_ && options_.entries_per_node == 0 && sum.entries >= options_.entries) return true;
    if (options_.until > 0 && clock_.now() > options_.until) return true;
    if (users_ && options_.until == 0 &&
        now - std::max(progress_, clock_.start_ns) > plan_.patience_ns)
      return true;
    return quiet_ || now - clock_.start_ns > plan_.limit_ns;
  }

  void stop_all() {
    stopped_ = true;
    for (int other = 1; other < ranks_.count(); ++other)
      MPI_Send(nullptr, 0, MPI_BYTE, other, stop_tag, ranks_.all());
  }

  // Nobody leaves while something is on its way to it.
  void read_the_rest() {
    MPI_Request all = MPI_REQUEST_NULL;
    bool entered = false;
    for (int done = 0; done == 0;) {
      read_mail();
      forget_sent();
      if (!entered && posts_.empty()) {
        MPI_Ibarrier(ranks_.all(), &all);
        entered = true;
      }
      if (entered) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    }
  }

  const Ranks& ranks_;
  const sim::Options& options_;
  const field::Plan& plan_;
  field::Layout layout_;
  bool users_;
  field::RunClock clock_;
  field::Host host_;
  std::string records_;
  std::list<Post> posts_;  // not yet gone
  Status status_, told_, last_;
  std::vector<Status> known_;  // at the first rank, of each
  std::int64_t progress_ = 0, changed_ = 0;
  bool stopped_ = false, quiet_ = false;
};

// What all wrote, at the first rank.
std::vector<Record> collect(const Ranks& ranks, std::string& own) {
  const int size = static_cast<int>(own.size());
  std::vector<int> sizes(static_cast<std::size_t>(ranks.count())), places(sizes.size());
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, ranks.all());
  int sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    places[i] = sum;
    sum += sizes[i];
  }
  std::string all(static_cast<std::size_t>(ranks.self() == 0 ? sum : 0), '\0');
  MPI_Gatherv(own.data(), size, MPI_BYTE, all.data(), sizes.data(), places.data(), MPI_BYTE, 0,
              ranks.all());
  return field::read_records(all);
}

}  // namespace

field::Outcome run_nodes_on_ranks(const field::Cast& cast, const sim::Options& options,
                                  const field::Plan& plan) {
  const auto nodes = options.setup.size();
  if (plan.processes > 0)
    throw UsageError(
        "the ranks are the processes: say how many to mpirun, and leave --processes away");
  if (!options.faults.crashes.empty() || !options.faults.recoveries.empty())
    throw UsageError("MPI ends all ranks if one dies: crashes are for 'turno run'");
  if (options.sessions > 0 || options.arrivals.kind == sim::Arrivals::Kind::total)
    throw UsageError("--sessions and total arrivals are not for MPI");
  field::Outcome outcome;
  const Ranks ranks(nodes);
  if (ranks.idle()) return outcome;
  const field::Layout layout{.hosts = static_cast<std::size_t>(ranks.count()), .clocks = true};
  const auto began = field::monotonic_ns();
  Rank self(ranks, cast, options, plan, layout);
  self.run();
  auto [records, uncaused] = field::in_causal_order(collect(ranks, self.records()), nodes);
  outcome.processes = layout.hosts;
  outcome.real_seconds = static_cast<double>(field::monotonic_ns() - began) / 1e9;
  if (ranks.self() != 0) return outcome;
  const auto unordered = field::unordered_entries(cast.info.primitive, options.setup, records);
  static_cast<field::Verdict&>(outcome) = field::judge(cast, options, std::move(records));
  auto& violation = outcome.result.violation;
  for (const auto& wrong : {uncaused, unordered})
    if (violation.empty()) violation = wrong;
  const auto wanted =
      options.entries_per_node > 0 ? options.entries_per_node * nodes : options.entries;
  if (violation.empty() && has_users(cast.info.primitive) && options.until == 0 &&
      outcome.result.entries < wanted)
    violation = "nobody gets in any more";
  return outcome;
}

}  // namespace turno::cli

// turno-mpi: `turno run` with the ranks of MPI for processes, on one machine or many; and `turno
// lab` with its runs spread over them. Built only by `make mpi`.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/experiments/lab_command.h"
#include "cli/frame/program.h"
#include "cli/lab/commands.h"
#include "cli/mpi_lab.h"
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

int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}
int ranks() {
  int number = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  return number;
}

// What a rank tells the first now and then: what it has counted so far.
struct Status {
  std::uint64_t entries = 0, sessions = 0, sent = 0, taken = 0;
  std::int64_t pending = 0;  // of its own
  bool operator==(const Status&) const = default;
};

class Rank final : public field::Medium {
 public:
  Rank(const field::Cast& cast, const sim::Options& options, const field::Plan& plan,
       const field::Layout& layout)
      : options_(options),
        plan_(plan),
        layout_(layout),
        users_(has_users(cast.info.primitive)),
        host_(cast, options, layout, static_cast<std::size_t>(rank()), *this),
        known_(layout.hosts) {}

  // Runs until the first rank says that it is over.
  void run() {
    MPI_Barrier(MPI_COMM_WORLD);
    clock_ = {.start_ns = field::monotonic_ns(), .scale = plan_.scale};
    host_.start();
    while (!stopped_) {
      host_.work();
      read_mail();
      forget_sent();
      tell();
      if (rank() == 0 && over()) stop_all();
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
              static_cast<int>(layout_.host_of(envelope.to)), message_tag, MPI_COMM_WORLD,
              &post.request);
  }
  void write(const Record& record) override { field::write(record, records_); }
  void entered(Fence) override { ++status_.entries; }
  // What is sent elsewhere is counted here as sent and there as taken.
  void expect(NodeId at, int more) override {
    const bool here = layout_.host_of(at) == static_cast<std::size_t>(rank());
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
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &mail);
      if (there == 0) return;
      int size = 0;
      MPI_Get_count(&mail, MPI_BYTE, &size);
      std::string bytes(static_cast<std::size_t>(size), '\0');
      MPI_Recv(bytes.data(), size, MPI_BYTE, mail.MPI_SOURCE, mail.MPI_TAG, MPI_COMM_WORLD,
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
    known_[0] = rank() == 0 ? status_ : known_[0];
    if (rank() == 0) return;
    auto& post = posts_.emplace_back();
    post.bytes.assign(reinterpret_cast<const char*>(&told_), sizeof told_);
    MPI_Isend(post.bytes.data(), sizeof told_, MPI_BYTE, 0, status_tag, MPI_COMM_WORLD,
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
    for (int other = 1; other < ranks(); ++other)
      MPI_Send(nullptr, 0, MPI_BYTE, other, stop_tag, MPI_COMM_WORLD);
  }

  // Nobody leaves while something is on its way to it.
  void read_the_rest() {
    MPI_Request all = MPI_REQUEST_NULL;
    bool entered = false;
    for (int done = 0; done == 0;) {
      read_mail();
      forget_sent();
      if (!entered && posts_.empty()) {
        MPI_Ibarrier(MPI_COMM_WORLD, &all);
        entered = true;
      }
      if (entered) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    }
  }

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
std::vector<Record> collect(std::string& own) {
  const int size = static_cast<int>(own.size());
  std::vector<int> sizes(static_cast<std::size_t>(ranks())), places(sizes.size());
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    places[i] = sum;
    sum += sizes[i];
  }
  std::string all(static_cast<std::size_t>(rank() == 0 ? sum : 0), '\0');
  MPI_Gatherv(own.data(), size, MPI_BYTE, all.data(), sizes.data(), places.data(), MPI_BYTE, 0,
              MPI_COMM_WORLD);
  return field::read_records(all);
}

field::Outcome run_nodes_on_ranks(const field::Cast& cast, const sim::Options& options,
                                  const field::Plan& plan) {
  const auto nodes = options.setup.size();
  const field::Layout layout{.hosts = static_cast<std::size_t>(ranks()), .clocks = true};
  if (layout.hosts > nodes) throw UsageError("there are more ranks than nodes");
  if (!options.faults.crashes.empty() || !options.faults.recoveries.empty())
    throw UsageError("MPI ends all ranks if one dies: crashes are for 'turno run'");
  if (options.sessions > 0 || options.arrivals.kind == sim::Arrivals::Kind::total)
    throw UsageError("--sessions and total arrivals are not for MPI");
  const auto began = field::monotonic_ns();
  Rank self(cast, options, plan, layout);
  self.run();
  auto records = field::in_causal_order(collect(self.records()), nodes);
  field::Outcome outcome;
  outcome.processes = layout.hosts;
  outcome.real_seconds = static_cast<double>(field::monotonic_ns() - began) / 1e9;
  if (rank() != 0) return outcome;
  const auto unordered = field::unordered_entries(cast.info.primitive, options.setup, records);
  static_cast<field::Verdict&>(outcome) = field::judge(cast, options, std::move(records));
  auto& violation = outcome.result.violation;
  if (violation.empty()) violation = unordered;
  const auto wanted =
      options.entries_per_node > 0 ? options.entries_per_node * nodes : options.entries;
  if (violation.empty() && has_users(cast.info.primitive) && options.until == 0 &&
      outcome.result.entries < wanted)
    violation = "nobody gets in any more";
  return outcome;
}

void add_commands(Command app, Job& job, const std::vector<std::string>&) {
  add_run(app, job, run_nodes_on_ranks);
  add_lab(app, job, run_on_ranks);
}

}  // namespace
}  // namespace turno::cli

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // One rank speaks for all.
  if (turno::cli::rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 2;
  // Of the lab, the first rank does everything but the runs.
  const bool lab = argc > 1 && std::string_view(argv[1]) == "lab";
  if (lab && turno::cli::rank() != 0) {
    turno::cli::serve_runs();
    MPI_Finalize();
    return 0;
  }
  const auto status = turno::cli::run_program(
      {"turno-mpi",
       "turno-mpi: published algorithms on the ranks of MPI, one node a rank.\n\n"
       "  mpirun -n 8 turno-mpi run grid --nodes 8 --sites 2\n"
       "  mpirun -n 8 turno-mpi lab run grid-5.3      an experiment, its runs spread over the "
       "ranks\n",
       turno::cli::add_commands},
      argc, argv);
  if (lab) turno::cli::dismiss_ranks();
  MPI_Finalize();
  return status;
}

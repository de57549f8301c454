// How fast the simulator and the checker are, in one run on one machine.
//
// The simulator stands beside a bare event loop: the same queue, the same messages and the same
// random draws, but no protocol, no monitor and no statistics. That is the limit; the ratio is what
// counts, since machines are shared and noisy. Each pair is run several times in turn; medians are
// printed.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "catalogue/catalogue.h"
#include "catalogue/resources.h"
#include "catalogue/system.h"
#include "core/random.h"
#include "protocols/allocation/config.h"
#include "protocols/mutex/token/nxr.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "sim/demands.h"
#include "sim/event_queue.h"
#include "sim/simulation.h"

namespace {

using namespace turno;
using namespace turno::protocols;

constexpr double total_rate = 3;  // requests per second, all nodes together
constexpr int rounds = 3;

double cpu_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

sim::Options workload(std::size_t nodes, std::uint64_t entries) {
  sim::Options options;
  options.setup = make_setup(Nxr::info, {.nodes = nodes});
  options.arrivals.rate = total_rate / static_cast<double>(nodes);
  options.entries = entries;
  return options;
}

// Arrivals come for ever; each is followed by as many message hops as the protocol needs on
// average, and an exit.
double bare_loop(const sim::Options& options, std::uint64_t events, std::uint32_t hops) {
  struct Event {
    std::uint32_t hops_left = 0;
    NodeId node, from;
    Nxr::Message message;
  };
  const auto nodes = options.setup.size();
  Random random(options.seed);
  sim::EventQueue<Event> queue(2 * nodes);
  const auto arrival = [&] {
    return static_cast<sim::Time>(random.exponential() * 1e9 / options.arrivals.rate);
  };
  for (std::size_t i = 0; i < nodes; ++i) queue.push(arrival(), {hops + 2, NodeId{i}, {}, {}});
  const auto started = cpu_now();
  for (std::uint64_t i = 0; i < events; ++i) {
    auto [now, event] = queue.pop();
    const auto left = event.hops_left - 1;
    if (left == hops + 1) queue.push(now + arrival(), {hops + 2, event.node, {}, {}});
    if (left > 1) {
      const NodeId to{random.below(nodes)};
      queue.push(now + options.delay.draw(random), {left, to, event.node, event.message});
    } else if (left == 1) {
      queue.push(now + options.hold.draw(random), {left, event.node, {}, {}});
    }
  }
  return static_cast<double>(events) / (cpu_now() - started);
}

void bench_simulator() {
  fmt::print("simulator: nxr, {} requests a second in all; events per second of CPU time\n\n",
             total_rate);
  fmt::print("{:>9}  {:>12}  {:>12}  {:>6}  {:>9}\n", "nodes", "simulator", "bare loop", "ratio",
             "MiB so far");
  for (const std::size_t nodes : {31UL, 1'000UL, 100'000UL, 1'000'000UL}) {
    const auto options = workload(nodes, nodes < 100'000 ? 500'000 : 1'000'000);
    std::vector<double> ours, bare;
    for (int round = 0; round < rounds; ++round) {
      sim::Simulation<Nxr> simulation(options);
      const auto result = simulation.run();
      if (!result.violation.empty()) std::abort();
      ours.push_back(result.events_per_second());
      const auto hops = static_cast<std::uint32_t>(std::lround(result.messages_per_entry()));
      bare.push_back(bare_loop(options, result.events, hops));
    }
    fmt::print("{:>9}  {:>10.2f} M  {:>10.2f} M  {:>6.2f}  {:>9.0f}\n", nodes, median(ours) / 1e6,
               median(bare) / 1e6, median(ours) / median(bare), resident_mib());
  }
}

void bench_checker() {
  fmt::print("\nchecker: ricart-agrawala, unordered channels; states per second of CPU time\n\n");
  fmt::print("{:>14}  {:>9}  {:>11}  {:>12}  {:>17}  {:>5}\n", "nodes x requests", "states",
             "transitions", "states/s", "transitions/s", "MiB");
  const auto* algorithm = find_lock("ricart-agrawala");
  struct Size {
    std::uint64_t nodes;
    std::uint16_t requests;
  };
  for (const auto [nodes, requests] : {Size{3, 2}, Size{3, 3}, Size{4, 1}}) {
    check::Options options;
    options.setup = make_setup(algorithm->info, {.nodes = nodes});
    options.requests = requests;
    std::vector<double> rates;
    check::Result result;
    for (int round = 0; round < rounds; ++round) {
      result = algorithm->check(options);
      rates.push_back(static_cast<double>(result.states) / result.cpu_seconds);
    }
    const auto per_state =
        static_cast<double>(result.transitions) / static_cast<double>(result.states);
    fmt::print("{:>14}x{}  {:>9}  {:>11}  {:>10.2f} M  {:>15.2f} M  {:>5}\n", nodes, requests,
               result.states, result.transitions, median(rates) / 1e6,
               median(rates) * per_state / 1e6, result.bytes >> 20);
  }
}

// The thesis's workload at 200 times its size: 10 types of 10 instances, one entry each.
sim::Options reservations(const Info& info, std::uint64_t nodes, std::string_view sites) {
  constexpr sim::Time ms = 1'000'000;
  sim::Options options;
  options.setup = make_setup(info, {.nodes = nodes});
  options.setup.sites.of = parse_sites(sites, nodes);
  options.setup.configure<SiteQueue::Config>().preference = 150;
  options.setup.configure<AllocationConfig>().local_ns = ms;
  options.setup.configure<AllocationConfig>().remote_ns = 500 * ms;
  options.setup.resources.type_of = parse_instances(10, "10");
  options.setup.configure<AllocationConfig>().hold_ns = 500 * ms;
  options.arrivals = sim::parse_arrivals("closed:500ms");
  options.hold = sim::Distribution::constant(500 * ms);
  options.delay = sim::Distribution::constant(ms);
  options.sites.remote = sim::Distribution::constant(500 * ms);
  options.first = sim::Distribution::uniform(0, 2000 * ms);
  options.entries_per_node = 1;
  return options;
}

void bench_reservations() {
  constexpr std::uint64_t nodes = 10'000;
  fmt::print("\nreservations: {} nodes in 100 sites, 10 types of 10 instances, one entry each\n\n",
             nodes);
  fmt::print("{:>20}  {:>9}  {:>6}  {:>11}  {:>20}\n", "algorithm", "events", "CPU s", "events/s",
             "beside nxr, so large");
  for (const auto* name : {"brokered", "grid", "bouabdallah-laforest"}) {
    const auto* algorithm = find_algorithm(name);
    std::vector<double> seconds, beside;
    sim::Result result;
    for (int round = 0; round < rounds; ++round) {
      auto options = reservations(algorithm->info, nodes, "100");
      options.wish = sim::Demands::parse("half:1-5", options.setup).source(options.setup, 1);
      result = algorithm->simulate(options);
      if (!result.violation.empty()) std::abort();
      const auto lock = sim::Simulation<Nxr>(workload(nodes, 100'000)).run();
      seconds.push_back(result.cpu_seconds);
      beside.push_back(result.events_per_second() / lock.events_per_second());
    }
    fmt::print("{:>20}  {:>9}  {:>6.2f}  {:>9.2f} M  {:>20.3f}\n", name, result.events,
               median(seconds), static_cast<double>(result.events) / median(seconds) / 1e6,
               median(beside));
  }
}

template <class Queue>
double hold_model(std::size_t pending, std::uint64_t operations) {
  Random random(7);
  Queue queue;
  for (std::size_t i = 0; i < pending; ++i)
    queue.push(static_cast<sim::Time>(random.below(1'000'000'000)), static_cast<std::uint32_t>(i));
  const auto started = cpu_now();
  for (std::uint64_t i = 0; i < operations; ++i) {
    const auto ticket = queue.pop();
    queue.push(ticket.time + static_cast<sim::Time>(random.below(1'000'000'000)), ticket.slot);
  }
  return static_cast<double>(operations) / (cpu_now() - started);
}

void bench_queues() {
  fmt::print("\nevent queues: pop and push, a second of CPU time\n\n");
  fmt::print("{:>9}  {:>12}  {:>12}  {:>12}\n", "pending", "4-ary heap", "radix heap",
             "radix/4-ary");
  for (const std::size_t pending :
       {30UL, 100UL, 300UL, 1'000UL, 10'000UL, 100'000UL, 1'000'000UL}) {
    std::vector<double> heap, radix;
    for (int round = 0; round < rounds; ++round) {
      heap.push_back(hold_model<sim::FourAryHeap>(pending, 2'000'000));
      radix.push_back(hold_model<sim::RadixHeap>(pending, 2'000'000));
    }
    fmt::print("{:>9}  {:>10.2f} M  {:>10.2f} M  {:>12.2f}\n", pending, median(heap) / 1e6,
               median(radix) / 1e6, median(radix) / median(heap));
  }
}

}  // namespace

int main() {
  bench_simulator();
  bench_checker();
  bench_reservations();
  bench_queues();
}

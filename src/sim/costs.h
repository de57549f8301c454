// The logical costs of a simulated run: how much latency each request waited for, by the clocks of
// cost_clocks.h. For protocols that say what their messages carry, `P::carries(message)`.
#pragma once

#include <algorithm>
#include <concepts>
#include <vector>

#include "core/protocol.h"
#include "sim/cost_clocks.h"
#include "sim/options.h"

namespace turno::sim {

template <class P>
concept Costed = requires(const typename P::Message& message) {
  { P::carries(message) } -> std::same_as<Carries>;
};

// What a message carries for the clocks.
struct Cost {
  Time critical_path = 0, chain = 0;
  PrintedClock::Times printed;
};

class Costs {
 public:
  Costs(std::size_t nodes, bool printed)
      : nodes_(nodes, Node(printed ? nodes : 0)), control_(nodes), printed_(printed) {}

  Cost sent(NodeId from, Carries what, Time latency) {
    auto& node = nodes_[from.index()];
    Cost cost{.critical_path = node.path.after(latency)};
    if (what == Carries::control) control_.travel(latency);
    if (what == Carries::answer) cost.chain = node.chain.answer(latency);
    if (what == Carries::payment) cost.chain = node.chain.payment(latency);
    if (printed_ && what == Carries::control) cost.printed = node.printed_control.send(latency);
    if (printed_ && is_token(what)) cost.printed = node.printed_tokens.send(latency);
    return cost;
  }

  void received(NodeId at, Carries what, const Cost& cost) {
    auto& node = nodes_[at.index()];
    node.path.observe(cost.critical_path);
    if (what == Carries::control) node.wait.control = control_.visit(at);
    if (is_token(what)) node.chain.observe(cost.chain);
    if (!printed_) return;
    if (what == Carries::control)
      node.wait.printed_control = node.printed_control.receive(at, cost.printed);
    if (is_token(what))
      node.wait.printed_tokens =
          std::max(node.wait.printed_tokens, node.printed_tokens.receive(at, cost.printed));
  }

  void asked(NodeId at) {
    auto& node = nodes_[at.index()];
    node.wait = {.from = node.path.now()};
    node.chain.begin_request();
  }

  void entered(NodeId at) {
    const auto& node = nodes_[at.index()];
    ++entries_;
    sum_.critical_path += node.path.now() - node.wait.from;
    sum_.control += node.wait.control;
    sum_.tokens += node.chain.distance();
    sum_.printed_control += node.wait.printed_control;
    sum_.printed_tokens += node.wait.printed_tokens;
  }

  // Per entry, in milliseconds.
  [[nodiscard]] LogicalWait mean() const {
    const auto of = [&](Time sum) {
      return entries_ == 0 ? 0 : static_cast<double>(sum) / 1e6 / static_cast<double>(entries_);
    };
    return {of(sum_.control),         of(sum_.tokens),         of(sum_.critical_path),
            of(sum_.printed_control), of(sum_.printed_tokens), true};
  }

 private:
  struct Wait {
    Time from = 0;  // on the critical path, when it asked
    Time control = 0, printed_control = 0, printed_tokens = 0;
  };
  struct Node {
    explicit Node(std::size_t printed_nodes)
        : printed_control(printed_nodes), printed_tokens(printed_nodes) {}
    CriticalPath path;
    ChainDistance chain;
    Wait wait;
    PrintedClock printed_control, printed_tokens;
  };
  struct Sum {
    Time control = 0, tokens = 0, critical_path = 0, printed_control = 0, printed_tokens = 0;
  };
  static bool is_token(Carries what) { return what == Carries::answer || what == Carries::payment; }

  std::vector<Node> nodes_;
  Odometer control_;
  bool printed_;
  Sum sum_;
  std::uint64_t entries_ = 0;
};

}  // namespace turno::sim

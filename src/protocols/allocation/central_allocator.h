// A central allocator, the yardstick: one coordinator has all tokens, and who needs some asks it.
//
// The coordinator serves whoever can be served, oldest first, but a request that has been overtaken
// too often (`bypasses`) holds up all that are younger: no starvation.
//
// Who gives up waiting says so. The coordinator answers that it has forgotten the request, or it
// has granted it already: then that grant is given back. Until one of the two has come the node
// keeps its next request to itself, so that no grant is taken for another's.
//
// Assumes reliable channels; no crashes. Any order, but if somebody gives up: that must not be
// overtaken by its next request. Messages per entry: 3, none for the coordinator's own.
#pragma once

#include "core/protocol.h"
#include "protocols/allocation/config.h"
#include "protocols/allocation/tokens.h"

namespace turno::protocols {

struct CentralAllocator {
  static constexpr Info info{.name = "central-allocator",
                             .title = "a coordinator gives out all resources",
                             .source = "folklore",
                             .primitive = Primitive::reservation,
                             .low = "3(N-1)/N",
                             .high = "3(N-1)/N"};

  struct Message {
    enum class Kind : std::uint8_t { request, grant, release, withdraw, forgotten };
    Kind kind = Kind::request;
    Needs needs;    // request
    Tokens tokens;  // grant, release
    static constexpr std::array<std::string_view, 5> kinds = {"request", "grant", "release",
                                                              "withdraw", "forgotten"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "needs", "tokens"};
    [[nodiscard]] auto fields() const { return std::tie(kind, needs, tokens); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  struct Waiting {
    NodeId node;
    Needs needs;
    std::uint32_t overtaken = 0;
    bool operator==(const Waiting&) const = default;
    [[nodiscard]] auto fields() const { return std::tie(node, needs, overtaken); }
  };

  NodeId self, coordinator;
  const Setup* setup = nullptr;
  AllocationConfig config;
  Tokens held;             // in use here
  bool withdrawn = false;  // from a request of which nothing has been heard since
  Needs next;              // what is to be asked for when something has
  // At the coordinator.
  Tokens free;
  boost::container::small_vector<Waiting, 2> waiting;  // oldest first

  static constexpr std::array<std::string_view, 5> labels = {"held", "withdrawn", "next", "free",
                                                             "waiting"};
  [[nodiscard]] auto fields() const { return std::tie(held, withdrawn, next, free, waiting); }
  bool operator==(const CentralAllocator&) const = default;

  static CentralAllocator resume(const Setup& setup, NodeId self,
                                 std::span<const Holding> holdings) {
    CentralAllocator node;
    node.self = self;
    node.setup = &setup;
    node.config = setup.config<AllocationConfig>();
    node.coordinator = setup.root();
    if (const auto* holding = holding_of(self, holdings)) node.held = tokens_of(setup, *holding);
    if (self != node.coordinator) return node;
    for (std::uint32_t i = 0; i < setup.resources.type_of.size(); ++i)
      node.free.add(Token{i, Fence::at(setup.epoch)});
    for (const auto& holding : holdings)
      for (auto instance : holding.units) node.free.take(instance);
    return node;
  }

  static double alone(const Setup& setup) {
    const auto n = static_cast<double>(setup.size());
    return 3 * (n - 1) / n;
  }

  void request(const Demand& demand, Out& out) {
    const Needs needs(demand);
    if (self == coordinator) return admit(self, needs, out);
    if (withdrawn) {
      next = needs;
      return;
    }
    out.send(coordinator, {.kind = Kind::request, .needs = needs});
  }

  void release(Out& out) {
    if (self != coordinator) {
      out.send(coordinator, {.kind = Kind::release, .tokens = held});
    } else {
      free.add(held);
    }
    held.clear();
    if (self == coordinator) serve(out);
  }

  void withdraw(Out& out) {
    if (self == coordinator) {
      forget(self);
      return serve(out);
    }
    next.clear();
    if (std::exchange(withdrawn, true)) return;
    out.send(coordinator, {.kind = Kind::withdraw});
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return admit(from, message.needs, out);
      case Kind::grant:
        if (withdrawn) {
          out.send(coordinator, {.kind = Kind::release, .tokens = message.tokens});
          return ask_next(out);
        }
        held = message.tokens;
        return out.grant(held.units());
      case Kind::withdraw:
        if (!forget(from)) return;  // it is granted, and will be given back
        out.send(from, {.kind = Kind::forgotten});
        return serve(out);
      case Kind::forgotten:
        return ask_next(out);
      case Kind::release:
        free.add(message.tokens);
        return serve(out);
    }
  }

  // Could a node have sent it?
  static bool possible(const Setup& setup, const Message& message) {
    return exist(setup, message.needs) && exist(setup, message.tokens);
  }
  static Carries carries(const Message& /*message*/) { return Carries::other; }
  static std::string_view broken_invariant(const Snapshot<CentralAllocator>& world) {
    const auto instances = world.nodes.front().setup->resources.type_of.size();
    boost::container::small_vector<std::uint32_t, 16> places(instances);
    const auto count = [&](const Tokens& tokens) {
      for (const auto& token : tokens) ++places[token.instance];
    };
    for (const auto& node : world.nodes) {
      count(node.held);
      count(node.free);
    }
    for (const auto& flight : world.flights) count(flight.message.tokens);
    const bool once = std::all_of(places.begin(), places.end(), [](auto n) { return n == 1; });
    return once ? std::string_view{} : "a resource token is not in exactly one place";
  }

 private:
  // What became of the request from which this node has withdrawn is known.
  void ask_next(Out& out) {
    withdrawn = false;
    if (next.empty()) return;
    out.send(coordinator, {.kind = Kind::request, .needs = next});
    next.clear();
  }
  // False: it does not wait.
  bool forget(NodeId node) {
    const auto found = std::find_if(waiting.begin(), waiting.end(),
                                    [&](const Waiting& each) { return each.node == node; });
    if (found == waiting.end()) return false;
    waiting.erase(found);
    return true;
  }

  void admit(NodeId node, const Needs& needs, Out& out) {
    waiting.push_back({node, needs});
    serve(out);
  }

  void serve(Out& out) {
    for (std::size_t i = 0; i < waiting.size();) {
      if (!free.cover(setup->resources, waiting[i].needs)) {
        if (waiting[i].overtaken >= config.bypasses) return;
        ++i;
        continue;
      }
      for (std::size_t older = 0; older < i; ++older) ++waiting[older].overtaken;
      const auto chosen = waiting[i];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      give(chosen, out);
      // Somebody may have been overtaken for the last time.
      for (std::size_t older = 0; older < i; ++older)
        if (waiting[older].overtaken >= config.bypasses) return;
    }
  }

  void give(const Waiting& to, Out& out) {
    Tokens given;
    for (std::size_t type = 0; type < to.needs.types(); ++type)
      for (auto more = to.needs.of(type); more > 0; --more) given.add(take_one_of(type));
    given.use();
    if (to.node != self) return out.send(to.node, {.kind = Kind::grant, .tokens = given});
    held = given;
    out.grant(held.units());
  }
  // REQUIRES: there is one.
  Token take_one_of(std::size_t type) {
    for (const auto& token : free)
      if (setup->resources.type_of[token.instance] == type) return free.take(token.instance);
    TURNO_ASSERT(false && "there is one of this type");
    return {};
  }
};

}  // namespace turno::protocols

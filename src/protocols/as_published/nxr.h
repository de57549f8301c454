// NxR as printed in Fig. 2 of the paper, line by line, and the readings in which one of its
// mistakes stands alone. To be refuted by the checker; never to be run.
//
// F1  (c)2   enqueues NIL when the token need not be given back
// F2  (d)11  stands under the else: after Token(NIL) the sender still has the token
// F3  (c)12  the same, for a node that only relays the token
// F4  (d)9   is dedented: tokenDemanded is cleared although the queue is not empty
// F5  (a)1   lets a node that already waits ask again, and (d) then sends the token to itself
#pragma once

#include "core/container/queue.h"
#include "core/protocol.h"

namespace turno::protocols::as_published {

struct Nxr {
  static constexpr Info info{.name = "nxr",
                             .title = "nxr as printed",
                             .source = "Perez Rojas, Orellana 2005, Fig. 2",
                             .shape = Shape::tree,
                             .overlap = Overlap::any};
  static constexpr std::array departures = {
      Departure{"figure-2", "Fig. 2 to the letter", "--nodes 2 --requests 2"},
      Departure{"nil-enqueued", "F1: a token without return address leaves NIL in the queue",
                "--nodes 2"},
      Departure{"kept-on-exit", "F2: who leaves and sends the token away keeps it",
                "--nodes 2 --requests 2"},
      Departure{"kept-on-relay", "F3: who only relays the token keeps it",
                "--nodes 3 --requests 2"},
      Departure{"demand-cleared", "F4: tokenDemanded is cleared while the queue is not empty",
                "--nodes 3"},
      Departure{"asks-twice", "F5: a node that asks twice sends the token to itself",
                "--nodes 1 --requests 2 --overlapping"},
  };
  // Which of the mistakes a departure makes: the first one all of them, the others one each.
  struct Reading {
    bool nil_enqueued = false, kept_on_exit = false, kept_on_relay = false;
    bool demand_always_cleared = false, may_send_to_itself = false;
    static constexpr Reading of(std::uint8_t departure) {
      const auto makes = [=](std::uint8_t mistake) {
        return departure == 1 || departure == mistake + 1;
      };
      return {makes(1), makes(2), makes(3), makes(4), makes(5)};
    }
    bool operator==(const Reading&) const = default;
  };

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    NodeId node;  // the argument; nobody is NIL
    Fence fence;
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "node", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, node, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  Reading reading;
  NodeId father;
  bool token = false, using_it = false, demanded = false;
  bool undefined = false;  // a line had no meaning: the head of an empty queue
  Queue<NodeId> queue;
  Fence fence;

  static constexpr std::array<std::string_view, 7> labels = {
      "father", "token", "using", "demanded", "undefined", "queue", "fence"};
  [[nodiscard]] auto fields() const {
    return std::tie(father, token, using_it, demanded, undefined, queue, fence);
  }
  bool operator==(const Nxr&) const = default;

  static Nxr resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Nxr node;
    node.self = self;
    node.reading = Reading::of(setup.departure);
    node.father = setup.father[self.index()];
    node.token = node.father == self;
    if (node.token) node.fence = Fence::at(setup.epoch);
    return node;
  }

  void request(Demand, Out& out) {
    queue.push(self);                                         // (a)1
    if (demanded) return;                                     // (a)2
    demanded = true;                                          // (a)3
    if (token) return enter(out);                             // (a)4-6
    out.send(father, {.kind = Kind::request, .node = self});  // (a)7
    father = self;                                            // (a)8
  }

  void receive(NodeId, const Message& message, Out& out) {
    if (message.kind == Kind::token) return receive_token(message, out);
    if (token && !using_it) {           // (b)1
      give(message.node, nobody, out);  // (b)2-3
      drop();
      father = message.node;     // (b)4
    } else if (demanded) {       // (b)5
      queue.push(message.node);  // (b)6
    } else {
      out.send(father, message);  // (b)7
      father = message.node;      // (b)8
    }
  }

  void release(Out& out) {
    queue.pop();          // (d)1
    using_it = false;     // (d)2
    if (queue.empty()) {  // (d)3
      demanded = false;   // (d)4
      return;
    }
    if (!reading.may_send_to_itself && queue.front() == self) return enter(out);
    const auto next = queue.pop();    // (d)5
    const bool last = queue.empty();  // (d)6
    if (last) {
      give(next, nobody, out);  // (d)7
      father = next;            // (d)8
      if (!reading.kept_on_exit) drop();
    } else {
      give(next, self, out);  // (d)10
      drop();                 // (d)11
    }
    if (last || reading.demand_always_cleared) demanded = false;  // (d)9
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }

  // The paper's own lemmas.
  static std::string_view broken_invariant(const Snapshot<Nxr>& world) {
    for (const auto& node : world.nodes) {
      if (node.undefined) return "a line of the figure has no meaning here";
      if (node.demanded == node.queue.empty())
        return "Lemma 1: tokenDemanded says that the queue is not empty";
      if (node.token && !node.using_it && node.demanded)
        return "Lemma 2: an idle holder owes nothing";
    }
    return {};
  }

 private:
  void receive_token(const Message& message, Out& out) {
    token = true;  // (c)1
    fence = message.fence;
    if (reading.nil_enqueued || message.node != nobody) queue.push(message.node);  // (c)2
    if (queue.empty()) {
      undefined = true;
      return;
    }
    if (queue.front() == self) return enter(out);  // (c)3-5
    const auto next = queue.pop();                 // (c)6
    if (queue.empty()) {                           // (c)7
      give(next, nobody, out);                     // (c)8
      father = next;                               // (c)9
      demanded = false;                            // (c)10
      if (!reading.kept_on_relay) drop();
    } else {
      give(next, self, out);  // (c)11
      drop();                 // (c)12
    }
  }

  void enter(Out& out) {
    using_it = true;
    fence = fence.next();
    out.grant(fence);
  }

  void give(NodeId to, NodeId give_back_to, Out& out) {
    out.send(to, {.kind = Kind::token, .node = give_back_to, .fence = fence});
  }

  void drop() {
    token = false;
    fence = {};
  }
};

}  // namespace turno::protocols::as_published

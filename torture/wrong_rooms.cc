#include "wrong_rooms.h"

#include <array>

#include "protocols/allocation/brokered.h"
#include "protocols/allocation/central_allocator.h"
#include "protocols/group/quorum_group.h"
#include "table/pools/room_engine.h"
#include "table/pools/store_engine.h"
#include "wrong.h"

namespace turno::torture {

using namespace protocols;

namespace {

// ---- rooms

// An arbiter votes for everybody.
struct Hospitable : Wrong<Hospitable, QuorumGroup> {
  bool operator==(const Hospitable&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind != Kind::request || !votes.cast_any())
      return QuorumGroup::receive(from, message, out);
    out.send(from, {.kind = Kind::grant, .time = message.time, .clock = clock.now()});
  }
};

// A manager lets in as many as like.
struct Crowded : QuorumGroup {
  bool operator==(const Crowded&) const = default;
  static Crowded resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Crowded node;
    static_cast<QuorumGroup&>(node) = QuorumGroup::resume(setup, self, holdings);
    if (self.index() < setup.room.groups) node.capacity = RoomSetup::unlimited;
    return node;
  }
};

// ---- reservations

// The coordinator does not keep the fences of what is given back.
struct Forgetful : Wrong<Forgetful, CentralAllocator> {
  bool operator==(const Forgetful&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind != Kind::release) return CentralAllocator::receive(from, message, out);
    Message forgotten{.kind = Kind::release};
    for (const auto& token : message.tokens)
      forgotten.tokens.add(Token{token.instance, Fence::at(setup->epoch)});
    CentralAllocator::receive(from, forgotten, out);
  }
};

// Who is asked for an instance gives it away although it uses it.
struct Obliging : Wrong<Obliging, Brokered> {
  bool operator==(const Obliging&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::inquiry)
      for (auto& token : held) token.locked = false;
    Brokered::receive(from, message, out);
  }
};

template <class P>
std::unique_ptr<table::PoolEngine> make_room() {
  return std::make_unique<table::RoomEngineOf<P>>();
}
constexpr std::array rooms = {WrongRoom{"votes-for-all", make_room<Hospitable>},
                              WrongRoom{"capacity", make_room<Crowded>}};

template <class P>
std::unique_ptr<table::PoolEngine> make_store(std::string_view allocator) {
  if (allocator != P::info.name) return nullptr;
  return std::make_unique<table::StoreEngineOf<P>>();
}
template <class P>
constexpr WrongStore wrong(std::string_view name) {
  return {P::info.name, name, make_store<P>};
}
constexpr std::array stores = {wrong<Forgetful>("fences-kept"), wrong<Obliging>("locked-tokens")};

}  // namespace

const WrongRoom* wrong_room(std::string_view name) {
  for (const auto& each : rooms)
    if (each.name == name) return &each;
  return nullptr;
}

const WrongStore* wrong_store(std::string_view allocator, std::string_view name) {
  for (const auto& each : stores)
    if (each.allocator == allocator && each.name == name) return &each;
  return nullptr;
}

}  // namespace turno::torture

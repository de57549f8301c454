#include "wrong_locks.h"

#include <array>

#include "protocols/mutex/permission/maekawa.h"
#include "protocols/mutex/permission/ricart_agrawala.h"
#include "protocols/mutex/token/nxr_bh.h"
#include "table/engine_of.h"
#include "wrong.h"

namespace turno::torture {

using namespace protocols;

namespace {

// Who waits answers everybody, also those who came later.
struct Courteous : Wrong<Courteous, RicartAgrawala> {
  bool operator==(const Courteous&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind != Kind::request || phase != Phase::waiting)
      return RicartAgrawala::receive(from, message, out);
    clock.observe(message.time);
    out.send(from, {.kind = Kind::reply});
  }
};

// The clock does not follow what it receives.
struct Unheeding : Wrong<Unheeding, RicartAgrawala> {
  bool operator==(const Unheeding&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    const auto before = clock;
    RicartAgrawala::receive(from, message, out);
    clock = before;
  }
};

// Of two requests with the same time, each lets the other go first.
struct Tied : Wrong<Tied, RicartAgrawala> {
  bool operator==(const Tied&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    const bool tie = phase == Phase::waiting && message.time == time;
    if (message.kind != Kind::request || !tie) return RicartAgrawala::receive(from, message, out);
    out.send(from, {.kind = Kind::reply});
  }
};

// An arbiter votes for everybody.
struct Generous : Wrong<Generous, Maekawa> {
  bool operator==(const Generous&) const = default;
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind != Kind::request || !votes.cast_any())
      return Maekawa::receive(from, message, out);
    out.send(from, {.kind = Kind::grant, .time = message.time, .clock = clock.now()});
  }
};

// Who hands the token over has it still.
struct Keeping : Wrong<Keeping, NxrBh> {
  bool operator==(const Keeping&) const = default;
  void release(Out& out) {
    const auto last = fence;
    NxrBh::release(out);
    if (!token) fence = last;
    token = true;
  }
};

template <class P>
std::unique_ptr<table::LockEngine> make(std::string_view algorithm) {
  if (algorithm != P::info.name) return nullptr;
  return std::make_unique<table::EngineOf<P>>();
}
template <class P>
constexpr WrongLock wrong(std::string_view name) {
  return {P::info.name, name, make<P>};
}

constexpr std::array all = {wrong<Courteous>("answers-while-waiting"),
                            wrong<Unheeding>("no-clock-rule"), wrong<Tied>("ties-answered"),
                            wrong<Generous>("votes-for-all"), wrong<Keeping>("token-kept")};

}  // namespace

const WrongLock* wrong_lock(std::string_view algorithm, std::string_view name) {
  for (const auto& each : all)
    if (each.algorithm == algorithm && each.name == name) return &each;
  return nullptr;
}

}  // namespace turno::torture

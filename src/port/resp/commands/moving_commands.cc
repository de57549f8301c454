// The commands for clients that move to another node, and for making a node leave.
#include <array>
#include <chrono>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

// One batch of locks after another is offered to the other node. It takes a batch whole or not at
// all.
class Moving : public std::enable_shared_from_this<Moving> {
 public:
  Moving(Connection& connection, std::string_view member, std::string_view ticket)
      : connection_(connection), alive_(connection.alive()), member_(member), ticket_(ticket) {}

  void go_on() {
    auto bequests = connection_.session().bequeath();
    // What it has inherited from another member that leaves it can bequeath when that one is gone.
    if (bequests.empty() && connection_.session().is_heir()) return look_again();
    if (bequests.empty()) return answer({});
    auto will = table::Will{ticket_, bequests, cluster::Moment::now()};
    connection_.host().bequeath(member_, std::move(will),
                                [self = shared_from_this(), bequests = std::move(bequests)](
                                    std::string_view refusal) { self->settle(bequests, refusal); });
  }

 private:
  void look_again() {
    connection_.host().loop().after(std::chrono::milliseconds(5), [self = shared_from_this()] {
      if (*self->alive_) self->go_on();
    });
  }
  void settle(const std::vector<table::Bequest>& bequests, std::string_view refusal) {
    if (!*alive_) return;  // its session is over; what was not taken ends with this node
    auto& session = connection_.session();
    if (!refusal.empty()) {
      session.reclaim(bequests);
      return answer(refusal);
    }
    session.bequeathed(bequests);
    moved_ += bequests.size();
    go_on();
  }
  void answer(std::string_view refusal) {
    connection_.host().loop().later([self = shared_from_this(), why = std::string(refusal)] {
      if (!*self->alive_) return;
      auto& out = self->connection_.reply();
      if (why.empty()) {
        out.integer(static_cast<std::int64_t>(self->moved_));
      } else {
        out.error("REFUSED", why);
      }
      self->connection_.go_on();
    });
  }

  Connection& connection_;
  const std::shared_ptr<bool> alive_;
  const std::string member_, ticket_;
  std::size_t moved_ = 0;
};

// Who may end the node's process may tell it to leave.
void drain(Connection& connection, Arguments) {
  if (!connection.is_owners())
    return connection.reply().error("NOPERM",
                                    "DRAIN is for the user who runs this node, by its Unix socket");
  connection.reply().simple("OK");
  connection.host().loop().later([&host = connection.host()] { host.drain("drained"); });
}

constexpr std::array all = {
    Command{"DRAIN", drain, For::anybody, 1, 1, "DRAIN", "turno",
            "The node leaves when its clients have moved or stopped"},
};

}  // namespace

void bequeath(Connection& connection, Arguments arguments) {
  if (!connection.host().draining())
    return connection.reply().error("ERR", "this node does not leave: locks stay where they are");
  connection.hold_replies();
  std::make_shared<Moving>(connection, arguments[2], arguments[3])->go_on();
}

void inherit(Connection& connection, Arguments) {
  if (connection.host().draining()) return connection.say_draining();
  connection.reply().bulk(connection.session().ticket());
}

void held(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  std::vector<std::tuple<std::string_view, Fence, Thing>> found;
  for (const auto name : arguments.subspan(2))
    for (const auto thing : {Thing::lock, Thing::election})
      if (const auto fence = connection.session().fence_of(name, thing))
        found.emplace_back(name, *fence, thing);
  out.array(found.size());
  for (const auto& [name, fence, thing] : found) {
    out.array(3);
    out.bulk(name);
    out.fence(fence.value);
    out.bulk(table::name(thing));
  }
}

std::span<const Command> moving_commands() { return all; }

}  // namespace turno::port

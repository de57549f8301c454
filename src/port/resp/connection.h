// The bytes of one client: its commands are read, done for the session that the connection speaks
// for, and answered in their order.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/stream.h"
#include "port/host.h"
#include "port/resp/clients.h"
#include "port/resp/session.h"
#include "port/resp/subscriptions.h"
#include "wire/resp.h"

namespace turno::port {

class Connection final : public net::Stream, public Session::Speaker {
 public:
  // Speaks for the session, which is its own.
  Connection(Clients& clients, net::Fd socket, Session& session);
  // A session of its own ends with it.
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] std::uint64_t id() const { return id_; }
  // No command that is not at work now will be looked at.
  void refuse_more() { ending_ = true; }

  // ---- for the commands
  using Arguments = std::span<const std::string_view>;
  struct Wanted {
    std::string_view name;
    std::chrono::milliseconds timeout{-1};  // negative: for ever
    std::chrono::milliseconds ttl{0};       // 0: none
    bool async = false;
    Thing thing = Thing::lock;
    std::uint32_t count = 1;  // of a semaphore: how many permits
    // And how many there are, if that is said; of a room: how many of the group may be inside.
    std::uint32_t permits = 0;
    bool by_default = false;      // so many of a semaphore unless somebody has resized it
    bool resizes = false;         // it wants none, but that there are so many
    std::string_view value{};     // of a leader
    std::string_view group{};     // of a room
    std::vector<Claim> claims{};  // of a store
  };
  // The lock, permits of a semaphore, the leadership of an election, and so on.
  void lock(const Wanted& wanted);
  // The reply comes later; no further command is looked at until then.
  void hold_replies() { waiting_ = true; }
  void go_on();
  void quit() { quitting_ = true; }
  void say_draining();
  [[nodiscard]] wire::ReplyWriter& reply() { return reply_; }
  [[nodiscard]] Clients& clients() { return clients_; }
  [[nodiscard]] Host& host() { return clients_.host(); }
  [[nodiscard]] const std::string& from() const { return from_; }
  // Who is behind it, as far as is known: a user of this machine, or an address.
  [[nodiscard]] std::string origin() const;
  // The client is of the user who runs this node, or of root: by a Unix socket.
  [[nodiscard]] bool is_owners() const;
  // Where the client has reached this node, as a text. Of TCP or of a Unix socket.
  [[nodiscard]] std::string local_address() const;
  // False once the connection has ended: for answers that come later.
  [[nodiscard]] std::shared_ptr<bool> alive() const { return alive_; }

  [[nodiscard]] Session& session() { return *session_; }
  // That the session has if it is not the connection's own, or nothing.
  [[nodiscard]] Leases::Lease* lease() { return lease_; }
  // From now on it speaks for this session. REQUIRES: a session of its own has nothing to lose.
  void speak_for(Leases::Lease& lease);
  // As if it had just been made.
  void reset();
  // Why there is no session to speak for any more; empty: there is one.
  [[nodiscard]] const std::string& gone() const { return gone_; }

  [[nodiscard]] Subscriptions& subscriptions() { return subscriptions_; }
  // Elections of which it is told who leads, beside those to whose channels it has subscribed.
  [[nodiscard]] Subscriptions::Names& observed() { return observed_; }
  void tell_leader(const Leadership& change);
  // The members have changed: whoever moves by itself has to know where to.
  void tell_members(const cluster::View& view);
  // Only as a message, to who has subscribed.
  void publish_leader(const Leadership& change);
  [[nodiscard]] std::string_view node_of(const Leadership& leader);
  // Inside MULTI nothing is done.
  struct Transaction {
    bool begun = false, spoilt = false;
  };
  [[nodiscard]] Transaction& transaction() { return transaction_; }
  // Not every command is for it now, or somebody must know that it spoke.
  [[nodiscard]] bool is_special() const {
    return lease_ != nullptr || transaction_.begun || !subscriptions_.empty() || !gone_.empty();
  }

 private:
  void readable() override;
  void closed(std::string_view reason) override;
  void writable() override;
  void answer(const News& news) override;
  void tell(const News& news) override;
  [[nodiscard]] bool hears() const override;
  void session_ends(std::string_view reason) override;
  void work();
  bool execute_next();
  void watch_incomplete();
  void push(const News& news);
  void write_grant(Thing thing, Fence fence, std::span<const std::uint32_t> permits,
                   std::span<const Resource> resources);
  void publish(const News& news);
  template <class Text>
  void publish(std::string_view channel, const Text& text);
  void after_news();
  void leave_session();
  void begin_session();

  Clients& clients_;
  Session* session_;
  Leases::Lease* lease_ = nullptr;
  const std::uint64_t id_;  // of the session with which it began
  const std::string from_;
  wire::RequestParser parser_;
  wire::ReplyWriter reply_;
  Subscriptions subscriptions_;
  Subscriptions::Names observed_;
  Transaction transaction_;
  std::string gone_;
  bool waiting_ = false;  // for the reply to a command
  bool working_ = false, quitting_ = false, ending_ = false;
  std::uint64_t done_ = 0;       // commands
  net::Loop::Timer incomplete_;  // while a command is
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Does what the client asks. Writes the reply, unless it comes later.
void execute(Connection& connection, Connection::Arguments arguments);

}  // namespace turno::port

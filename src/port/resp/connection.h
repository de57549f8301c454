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
#include "wire/resp.h"

namespace turno::port {

class Connection final : public net::Stream, public Session::Speaker {
 public:
  // Speaks for the session.
  Connection(Clients& clients, net::Fd socket, Session& session);
  // The session ends if nobody else can speak for it.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] std::uint64_t id() const { return id_; }

  // ---- for the commands (commands.cc)
  using Arguments = std::span<const std::string_view>;
  struct Wanted {
    std::string_view name;
    std::chrono::milliseconds timeout{-1};  // negative: for ever
    std::chrono::milliseconds ttl{0};       // 0: none
    bool async = false;
  };
  void lock(const Wanted& wanted);
  // The reply comes later; no further command is looked at until then.
  void hold_replies() { waiting_ = true; }
  void go_on();
  void quit() { quitting_ = true; }
  [[nodiscard]] wire::ReplyWriter& reply() { return reply_; }
  [[nodiscard]] Clients& clients() { return clients_; }
  [[nodiscard]] Host& host() { return clients_.host(); }
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] const std::string& from() const { return from_; }
  // False once the connection has ended: for answers that come later.
  [[nodiscard]] std::shared_ptr<bool> alive() const { return alive_; }

 private:
  void readable() override;
  void closed(std::string_view reason) override;
  void writable() override;
  void answer(const News& news) override;
  void tell(const News& news) override;
  void work();
  bool execute_next();
  void push(const News& news);

  Clients& clients_;
  Session* session_;
  const std::uint64_t id_;  // of the session with which it began
  const std::string from_;
  wire::RequestParser parser_;
  wire::ReplyWriter reply_;
  bool waiting_ = false;  // for the reply to a command
  bool working_ = false, quitting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Does what the client asks. Writes the reply, unless it comes later.
void execute(Connection& connection, Connection::Arguments arguments);

}  // namespace turno::port

// One client and its connection: what it holds and what it waits for ends with it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/stream.h"
#include "port/host.h"
#include "port/resp/clients.h"
#include "wire/resp.h"

namespace turno::port {

class Session final : public net::Stream {
 public:
  Session(Clients& clients, net::Fd socket);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] std::uint64_t id() const { return owner_.session; }
  // This session's lock was taken away.
  void lost(const std::string& lock, Fence fence, const std::string& reason);

  // ---- for the commands (commands.cc)
  using Arguments = std::span<const std::string_view>;
  struct Wanted {
    std::string_view name;
    std::chrono::milliseconds timeout{-1};  // negative: for ever
    std::chrono::milliseconds ttl{0};       // 0: none
    bool async = false;
  };
  void lock(const Wanted& wanted);
  void cancel(std::uint64_t ticket);
  void unlock(std::string_view name, Fence fence);
  void renew(std::string_view name, std::chrono::milliseconds ttl, Fence fence);
  // The reply comes later; no further command is looked at until then.
  void hold_replies() { waiting_ = true; }
  void go_on();
  void quit() { quitting_ = true; }
  [[nodiscard]] wire::ReplyWriter& reply() { return reply_; }
  [[nodiscard]] Clients& clients() { return clients_; }
  [[nodiscard]] Host& host() { return clients_.host(); }
  [[nodiscard]] Owner& owner() { return owner_; }
  [[nodiscard]] const std::string& from() const { return from_; }
  [[nodiscard]] std::size_t holds() const { return held_.size(); }
  // False once the session has ended: for answers that come later.
  [[nodiscard]] std::shared_ptr<bool> alive() const { return alive_; }

 private:
  class Wait;
  struct Held {
    Fence fence;
    net::Loop::Timer ttl;
  };

  void readable() override;
  void closed(std::string_view reason) override;
  void writable() override;
  void work();
  bool execute_next();
  void keep(const std::string& name, Fence fence, std::chrono::milliseconds ttl);
  void settle(Wait& wait);
  void expired(Wait& wait);
  void tell_timeout(const Wait& wait);
  void remove(Wait& wait);
  void conclude(Wait& wait);
  Wait* find(std::uint64_t ticket);

  Clients& clients_;
  Owner owner_;
  const std::string from_;
  wire::RequestParser parser_;
  wire::ReplyWriter reply_;
  boost::unordered_flat_map<std::string, Held> held_;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Wait>> waits_;  // by ticket
  boost::unordered_flat_map<std::string, std::uint32_t> waited_names_;     // how often each
  std::uint64_t tickets_ = 0;
  bool waiting_ = false;  // for the reply to a command
  bool working_ = false, quitting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Does what the client asks. Writes the reply, unless it comes later.
void execute(Session& session, Session::Arguments arguments);

}  // namespace turno::port

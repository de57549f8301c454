// One connection to a node: requests go out, answers come back in the same order, and between them
// what the node pushes. A thread reads, and writes what could not be sent at once.
//
// Thread safety: every call from any thread. The callbacks run in the reading thread, one after
// another, and no lock of the connection is held then.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "net/address.h"
#include "net/byte_stream.h"
#include "turno/error.h"
#include "wire/resp.h"

namespace turno::client {

// Of a node, as a user writes it.
tl::expected<net::Address, Error> parse_node_address(std::string_view text);

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  using Arguments = std::vector<std::string_view>;
  // Gets the answer, or nullptr if the connection ended before it came. Both kinds of callback
  // return whether they understood; if not, the connection is closed.
  using Answer = std::function<bool(wire::Reply*)>;
  struct Events {
    std::function<bool(wire::Reply&)> push;
    // Once, when it breaks; all answers have been told before. Only after it has returned does the
    // other side learn that the connection is over.
    std::function<void(const std::string& reason)> closed;
  };
  struct Options {
    std::string name;  // of this client, may be empty
    std::chrono::milliseconds connect_timeout{5000};
  };

  // Connects and greets. The events may come before this has returned. Fails with `timeout` if
  // nothing was heard in time: the node may be stopped; with `unavailable` if there is none; with
  // `refused` if what listens there is no node.
  static tl::expected<std::unique_ptr<Connection>, Error> open(const net::Address& address,
                                                               const Options& options,
                                                               Events events);
  Connection(net::Fd socket, net::Address address, Events events);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // Closes. REQUIRES: not called in the reading thread.
  ~Connection();

  // Never wait. add() keeps the request until flush(). False if the connection is over: then the
  // answer is never called.
  bool add(const Arguments& arguments, Answer answer);
  void flush();
  bool send(const Arguments& arguments, Answer answer) {
    const bool added = add(arguments, std::move(answer));
    if (added) flush();
    return added;
  }

  // Waits for the answer; one that is an error is returned as it is. REQUIRES: not called in the
  // reading thread.
  tl::expected<wire::Reply, Error> call(const Arguments& arguments,
                                        std::chrono::milliseconds timeout);

  // Ends it without waiting for that. What was sent before still arrives.
  void end();
  [[nodiscard]] bool closed() const;
  // When the node last said anything.
  [[nodiscard]] Clock::time_point heard() const { return heard_; }
  [[nodiscard]] int descriptor() const { return stream_.descriptor(); }
  // What the node answered to the greeting.
  [[nodiscard]] const wire::Reply& hello() const { return hello_; }

 private:
  void run();
  std::string read_until_broken();
  std::string receive();
  void wake() const;

  const net::Address address_;
  const net::ByteStream stream_;
  const Events events_;
  wire::Reply hello_;
  wire::ReplyParser parser_;  // of the reading thread
  std::atomic<Clock::time_point> heard_ = Clock::now();
  int wake_ = -1;  // an eventfd: there is something to send, or it is time to end

  mutable std::mutex mutex_;
  std::string unsent_;
  std::deque<Answer> answers_;
  bool waiting_to_send_ = false;  // the reading thread will
  bool ending_ = false;
  std::atomic<bool> speaks_http_{false};  // what listens is no node's port for clients
  bool closed_ = false;
  std::thread reader_;  // last: it uses all of the above
};

}  // namespace turno::client

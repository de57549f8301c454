// Nodes to test clients with: one that says what the test tells it to, and one that gives out
// locks.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "wire/resp.h"

namespace turno::client {

// Listens at a Unix socket of its own.
class Listener {
 public:
  Listener() {
    static std::atomic<int> count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("turno-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count)))
                .string();
    listen();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { stop(); }

  void listen() {
    descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path_.copy(name.sun_path, sizeof name.sun_path - 1);
    ::unlink(path_.c_str());
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(descriptor_, 100), 0);
  }
  void stop() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    ::unlink(path_.c_str());
  }
  [[nodiscard]] int accept() const {
    return ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string address() const { return "unix:" + path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

inline std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const auto word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

// Waits until there is something to read; false after five seconds.
inline bool readable(int descriptor) {
  pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 5000) == 1;
}

inline void send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// The test plays the node: it reads requests and writes answers, in the test's own thread.
class ScriptedNode {
 public:
  explicit ScriptedNode(std::string name = "scripted") : name_(std::move(name)) {}
  ScriptedNode(const ScriptedNode&) = delete;
  ScriptedNode& operator=(const ScriptedNode&) = delete;
  ~ScriptedNode() { hang_up(); }

  [[nodiscard]] std::string address() const { return listener_.address(); }
  void accept() {
    ASSERT_TRUE(readable(listener_.descriptor())) << "nobody connects";
    connection_ = listener_.accept();
    parser_ = {};
  }
  // Accepts and greets; the others that a client learns of are these.
  void welcome(std::string_view members = "*0\r\n") {
    accept();
    EXPECT_EQ(next(), "HELLO 3");
    say(greeting());
    EXPECT_EQ(next(), "CLIENT CAPA move");
    say("+OK\r\n");
    EXPECT_EQ(next(), "MEMBERS");
    say(members);
  }
  // The next request, its words separated by spaces; "(closed)", or "(nothing)" if none comes.
  std::string next() {
    for (;;) {
      const auto status = parser_.next();
      if (status == wire::Status::ready) return joined(parser_.arguments());
      if (status == wire::Status::error) return parser_.error();
      if (!readable(connection_)) return "(nothing)";
      const auto room = parser_.prepare(4096);
      const auto received = ::recv(connection_, room.data(), room.size(), 0);
      if (received <= 0) return "(closed)";
      parser_.commit(static_cast<std::size_t>(received));
    }
  }
  void say(std::string_view bytes) const { send_all(connection_, bytes); }
  [[nodiscard]] std::string greeting(bool draining = false) const {
    std::string text;
    wire::ReplyWriter writer(text, 3);
    writer.map(4);
    writer.bulk("id");
    writer.integer(7);
    writer.bulk("node");
    writer.bulk(name_);
    writer.bulk("lock_delay_ms");
    writer.integer(1000);
    writer.bulk("draining");
    writer.boolean(draining);
    return text;
  }
  void hang_up() {
    if (connection_ >= 0) ::close(std::exchange(connection_, -1));
  }
  Listener& listener() { return listener_; }

 private:
  const std::string name_;
  Listener listener_;
  int connection_ = -1;
  wire::RequestParser parser_;
};

// Gives out locks by the rules of a node: a thread, many connections, first come first served.
class LittleNode {
 public:
  LittleNode() : thread_([this] { run(); }) {}
  LittleNode(const LittleNode&) = delete;
  LittleNode& operator=(const LittleNode&) = delete;
  ~LittleNode() {
    ending_ = true;
    thread_.join();
  }
  [[nodiscard]] std::string address() const { return listener_.address(); }
  // Takes the lock away from whoever has it.
  void take_back(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    to_take_.push_back(name);
  }
  [[nodiscard]] std::size_t waiting(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return locks_[name].queue.size();
  }
  // How many have greeted since it was last forgotten.
  [[nodiscard]] std::size_t sessions() {
    const std::scoped_lock lock(mutex_);
    return greeted_;
  }
  void forget_sessions() {
    const std::scoped_lock lock(mutex_);
    greeted_ = 0;
  }
  [[nodiscard]] bool is_free(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return locks_[name].holder == nullptr;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    int descriptor = -1;
    std::int64_t id = 0;
    std::string name;
    wire::RequestParser parser;
  };
  struct Wait {
    Peer* peer;
    std::int64_t ticket;
    std::int64_t timeout;
    Clock::time_point since;
  };
  struct Lock {
    Peer* holder = nullptr;
    std::int64_t fence = 0;
    std::deque<Wait> queue;
  };

  void run() {
    while (!ending_) {
      std::vector<pollfd> ready{{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0}};
      for (const auto& peer : peers_)
        ready.push_back({.fd = peer.descriptor, .events = POLLIN, .revents = 0});
      ::poll(ready.data(), ready.size(), 2);
      const std::scoped_lock lock(mutex_);
      auto peer = peers_.begin();
      for (std::size_t at = 1; at < ready.size(); ++at) {
        const auto current = peer++;
        if (ready[at].revents != 0 && !serve(*current)) {
          leave(*current);
          peers_.erase(current);
        }
      }
      if (ready[0].revents != 0) {
        auto& added = peers_.emplace_back();
        added.descriptor = listener_.accept();
        added.id = ++ids_;
      }
      for (const auto& name : std::exchange(to_take_, {})) {
        auto& taken = locks_[name];
        if (taken.holder == nullptr) continue;
        std::string out;
        wire::ReplyWriter writer(out, 3);
        writer.push(4);
        writer.bulk("lost");
        writer.bulk(name);
        writer.integer(taken.fence);
        writer.bulk("taken by force");
        send_all(taken.holder->descriptor, out);
        hand_on(name, taken);
      }
      expire();
    }
    for (const auto& peer : peers_) ::close(peer.descriptor);
  }

  bool serve(Peer& peer) {
    const auto room = peer.parser.prepare(4096);
    const auto received = ::recv(peer.descriptor, room.data(), room.size(), 0);
    if (received <= 0) return false;
    peer.parser.commit(static_cast<std::size_t>(received));
    while (peer.parser.next() == wire::Status::ready) answer(peer, peer.parser.arguments());
    return true;
  }

  void answer(Peer& peer, std::span<const std::string_view> words) {
    std::string out;
    wire::ReplyWriter writer(out, 3);
    const auto command = words[0];
    const std::string name(words.size() > 1 ? words[1] : "");
    if (command == "HELLO") {
      ++greeted_;
      if (words.size() > 3) peer.name = words[3];
      writer.map(2);
      writer.bulk("id");
      writer.integer(peer.id);
      writer.bulk("node");
      writer.bulk("little");
    } else if (command == "LOCK") {
      const auto ticket = ++tickets_;
      std::int64_t timeout = -1;
      for (std::size_t at = 2; at + 1 < words.size(); ++at)
        if (words[at] == "TIMEOUT") timeout = std::stoll(std::string(words[at + 1]));
      auto& lock = locks_[name];
      if (lock.holder == &peer) {
        writer.error("HELD", "this session holds it");
        return send_all(peer.descriptor, out);
      }
      writer.integer(ticket);
      send_all(peer.descriptor, out);
      lock.queue.push_back({&peer, ticket, timeout, Clock::now()});
      if (lock.holder == nullptr) hand_on(name, lock);
      return expire();
    } else if (command == "CANCEL") {
      std::int64_t found = 0;
      for (auto& [_, lock] : locks_)
        found += static_cast<std::int64_t>(std::erase_if(lock.queue, [&](const Wait& wait) {
          return wait.peer == &peer && std::to_string(wait.ticket) == name;
        }));
      writer.integer(found);
    } else if (command == "UNLOCK") {
      auto& lock = locks_[name];
      const bool held =
          lock.holder == &peer && (words.size() < 3 || std::to_string(lock.fence) == words[2]);
      writer.integer(held ? 1 : 0);
      if (held) hand_on(name, lock);
    } else if (command == "RENEW") {
      writer.integer(locks_[name].holder == &peer ? 1 : 0);
    } else if (command == "WHO") {
      const auto& lock = locks_[name];
      if (lock.holder == nullptr) {
        writer.null();
      } else {
        writer.map(5);
        const auto pair = [&](std::string_view key, std::string_view value) {
          writer.bulk(key);
          writer.bulk(value);
        };
        pair("node", "little");
        pair("session", std::to_string(lock.holder->id));
        pair("client", lock.holder->name);
        pair("fence", std::to_string(lock.fence));
        pair("held_ms", "1234");
      }
    } else {
      writer.error("ERR", "unknown command '" + std::string(command) + "'");
    }
    send_all(peer.descriptor, out);
  }

  void hand_on(const std::string& name, Lock& lock) {
    lock.holder = nullptr;
    if (lock.queue.empty()) return;
    const auto next = lock.queue.front();
    lock.queue.pop_front();
    lock.holder = next.peer;
    ++lock.fence;
    tell(next, "granted", name, lock.fence);
  }
  static void tell(const Wait& wait, std::string_view what, const std::string& name,
                   std::int64_t fence) {
    std::string out;
    wire::ReplyWriter writer(out, 3);
    writer.push(fence > 0 ? 4 : 3);
    writer.bulk(what);
    writer.integer(wait.ticket);
    writer.bulk(name);
    if (fence > 0) writer.integer(fence);
    send_all(wait.peer->descriptor, out);
  }
  void expire() {
    for (auto& [name, lock] : locks_)
      for (auto wait = lock.queue.begin(); wait != lock.queue.end();) {
        const bool over = wait->timeout >= 0 &&
                          Clock::now() >= wait->since + std::chrono::milliseconds(wait->timeout);
        if (over) tell(*wait, "timeout", name, 0);
        wait = over ? lock.queue.erase(wait) : std::next(wait);
      }
  }
  void leave(Peer& peer) {
    for (auto& [name, lock] : locks_) {
      std::erase_if(lock.queue, [&](const Wait& wait) { return wait.peer == &peer; });
      if (lock.holder == &peer) hand_on(name, lock);
    }
    ::close(peer.descriptor);
  }

  Listener listener_;
  std::mutex mutex_;
  std::list<Peer> peers_;
  std::map<std::string, Lock> locks_;
  std::vector<std::string> to_take_;
  std::int64_t ids_ = 0, tickets_ = 0;
  std::size_t greeted_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace turno::client

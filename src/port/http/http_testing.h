// What the tests of the HTTP port share: a node in a thread, and a browser with a blocking socket.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "net/fd.h"
#include "net/log.h"
#include "net/socket.h"
#include "node/server.h"
#include "registry/registry_testing.h"

namespace turno::port {

using namespace node;
using namespace table;

class TestNode {
 public:
  TestNode(const std::filesystem::path& directory, std::string name) {
    log::set_level(log::Level::off);
    Settings settings;
    settings.directory = directory;
    settings.name = std::move(name);
    settings.http_address = "127.0.0.1:0";
    settings.client_address = "127.0.0.1:0";
    auto started = Server::start(std::move(settings));
    if (!started) throw std::runtime_error(started.error());
    server_ = std::move(*started);
  }
  TestNode(const TestNode&) = delete;
  TestNode& operator=(const TestNode&) = delete;
  ~TestNode() { stop(); }

  void run() {
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  [[nodiscard]] std::string http() { return server_->daemon().self().http_address; }
  [[nodiscard]] LockTable& locks() { return server_->daemon().locks(); }
  [[nodiscard]] Server& server() { return *server_; }

 private:
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

// Somebody who holds or waits at a node.
class TestUser final : public Waiter {
 public:
  TestUser(LockTable& locks, const Owner& asker, std::string name)
      : Waiter(asker), locks_(locks), name_(std::move(name)) {
    locks_.acquire(name_, *this);
  }
  ~TestUser() {
    if (!locks_.withdraw(name_, *this)) locks_.release(name_, *owner, fence);
  }
  TestUser(const TestUser&) = delete;
  TestUser& operator=(const TestUser&) = delete;
  void settled(Afterwards&) override {}

 private:
  LockTable& locks_;
  const std::string name_;
};

struct Page {
  int status = 0;  // 0: no response came
  std::string head, body;
};

// Blocks for at most ten seconds.
class Browser {
 public:
  explicit Browser(const std::string& address) {
    auto socket = net::connect(address);
    if (!socket) throw std::runtime_error(socket.error());
    socket_ = std::move(*socket);
    if (!wait(POLLOUT)) throw std::runtime_error("cannot connect to " + address);
  }

  // False: the node does not listen any more.
  bool say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && (errno != EAGAIN || !wait(POLLOUT))) return false;
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  Page read(bool with_body = true) {
    Page page;
    std::size_t end = 0;
    while ((end = text_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return page;
    page.head = take(end + 4);
    const std::string_view length = "\r\nContent-Length: ";
    const auto at = page.head.find(length);
    const auto size =
        at == std::string::npos ? 0 : std::strtoul(&page.head[at + length.size()], nullptr, 10);
    while (with_body && text_.size() < size)
      if (!more()) return page;
    if (with_body) page.body = take(size);
    if (page.head.starts_with("HTTP/1.1 ")) page.status = std::atoi(&page.head[9]);
    return page;
  }
  Page get(const std::string& target) {
    say("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n");
    return read();
  }
  // Whether the node hung up, with nothing left to read.
  bool at_end() { return text_.empty() && !more() && ended_; }
  void hang_up() { socket_.reset(); }
  [[nodiscard]] const net::Fd& socket() const { return socket_; }

 private:
  [[nodiscard]] bool wait(short events) const {
    pollfd ready{.fd = socket_.get(), .events = events, .revents = 0};
    return ::poll(&ready, 1, 10'000) == 1;
  }
  bool more() {
    if (!wait(POLLIN)) return false;
    char bytes[16384];
    const auto count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    ended_ = count <= 0;
    if (count > 0) text_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }
  std::string take(std::size_t size) {
    auto taken = text_.substr(0, size);
    text_.erase(0, size);
    return taken;
  }

  net::Fd socket_;
  std::string text_;
  bool ended_ = false;
};

inline Page get(const std::string& address, const std::string& target) {
  return Browser(address).get(target);
}

// Tries until it is so, for at most ten seconds.
inline bool eventually(const std::function<bool()>& so) {
  for (int i = 0; i < 1000; ++i) {
    if (so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace turno::port

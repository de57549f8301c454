// A client of the test's own: a plain blocking socket, and replies as text.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/testing.h"
#include "wire/resp.h"

namespace turno::port {

// 7, "text", OK, -ERR why, null, true, [1, 2], {"key": 1}, >["lost", "a"]
inline std::string text_of(const wire::Reply& reply) {
  using Kind = wire::Reply::Kind;
  const auto list = [&](const char* open, const char* close) {
    std::string text = open;
    for (std::size_t i = 0; i < reply.elements.size(); ++i) {
      if (i > 0) text += reply.kind == Kind::map && i % 2 == 1 ? ": " : ", ";
      text += text_of(reply.elements[i]);
    }
    return text + close;
  };
  switch (reply.kind) {
    case Kind::null:
      return "null";
    case Kind::error:
      return "-" + reply.text;
    case Kind::integer:
      return std::to_string(reply.integer);
    case Kind::bulk:
      return '"' + reply.text + '"';
    case Kind::boolean:
      return reply.integer != 0 ? "true" : "false";
    case Kind::map:
      return list("{", "}");
    case Kind::push:
      return list(">[", "]");
    case Kind::array:
    case Kind::set:
      return list("[", "]");
    default:
      return reply.text;
  }
}

class Caller {
 public:
  using Words = std::vector<std::string_view>;

  explicit Caller(const std::string& address, int protocol = 2)
      : socket_(net::connect_blocking(address)) {
    EXPECT_TRUE(socket_) << "cannot connect to " << address;
    if (protocol == 2) return;
    EXPECT_EQ(call("HELLO 3").kind, wire::Reply::Kind::map);
  }

  // One command, its words separated by spaces.
  static std::string request(std::string_view command) {
    Words words;
    while (!command.empty()) {
      const auto end = std::min(command.find(' '), command.size());
      if (end > 0) words.push_back(command.substr(0, end));
      command.remove_prefix(std::min(end + 1, command.size()));
    }
    return request(words);
  }
  static std::string request(const Words& words) {
    std::string bytes;
    wire::write_request(bytes, std::span(words));
    return bytes;
  }

  void send(std::string_view command) { send_bytes(request(command)); }
  void send_bytes(std::string_view bytes) {
    EXPECT_TRUE(net::write_all(socket_, bytes)) << "the node hung up";
  }

  // The next reply or push. An error if the node hung up.
  wire::Reply read() {
    for (;;) {
      const auto status = parser_.next();
      if (status == wire::Status::ready) return std::move(parser_.reply());
      const auto bytes = status == wire::Status::error ? "" : net::read_some(socket_);
      if (bytes.empty()) return {.kind = wire::Reply::Kind::error, .text = "the connection ended"};
      parser_.feed(bytes);
    }
  }
  std::string read_text() { return text_of(read()); }

  wire::Reply call(std::string_view command) {
    send(command);
    return read();
  }
  std::string ask(std::string_view command) { return text_of(call(command)); }
  std::string ask(const Words& words) {
    send_bytes(request(words));
    return read_text();
  }
  // Takes a lock that is free. Its fence.
  std::int64_t lock(std::string_view name) {
    const auto reply = call("LOCK " + std::string(name));
    EXPECT_EQ(reply.kind, wire::Reply::Kind::integer) << text_of(reply);
    return reply.integer;
  }

  [[nodiscard]] bool is_silent(
      std::chrono::milliseconds time = std::chrono::milliseconds(30)) const {
    return !net::wait_for(socket_, POLLIN, time);
  }
  [[nodiscard]] net::Fd& socket() { return socket_; }
  void hang_up() { socket_.reset(); }

 private:
  net::Fd socket_;
  wire::ReplyParser parser_;
};

}  // namespace turno::port

// What the tests of conversations between clients and nodes share: the words of nodes, and waiting.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "client/testing.h"
#include "turno/turno.h"

namespace turno::client {

using Result = tl::expected<Grant, Error>;

inline std::string push(const std::string& kind, const std::string& rest, int parts) {
  return ">" + std::to_string(parts) + "\r\n+" + kind + "\r\n" + rest;
}
inline std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
inline std::string number(int value) { return ":" + std::to_string(value) + "\r\n"; }
inline std::string granted(const std::string& name, int ticket, int fence) {
  return push("granted", number(ticket) + bulk(name) + number(fence), 4);
}
inline std::string timed_out(const std::string& name, int ticket) {
  return push("timeout", number(ticket) + bulk(name), 3);
}
// An answer to MEMBERS: nodes that listen at these Unix sockets.
inline std::string members(const std::vector<std::string>& sockets) {
  auto text = "*" + std::to_string(sockets.size()) + "\r\n";
  int id = 0;
  for (const auto& socket : sockets)
    text += "%2\r\n" + bulk("id") + number(++id) + bulk("socket") + bulk(socket);
  return text;
}

// Fails if it takes long.
template <class T>
T soon(std::future<T>& future) {
  EXPECT_EQ(future.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  return future.get();
}

// Whether a thread of this process waits for something.
inline bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(in, line);
  return line.find(") S") != std::string::npos;
}

inline bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return condition();
}

}  // namespace turno::client

// A client that speaks RESP by itself: it can ask for thousands of locks at once, and never waits
// but in hear().
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "wire/resp.h"

namespace turno::torture {

class Speaker {
 public:
  // Nothing: the node at this socket takes no client.
  static std::unique_ptr<Speaker> connect(const std::string& path);

  void say(std::initializer_list<std::string_view> words);
  // The next reply, within this time. What was said goes out meanwhile.
  std::optional<wire::Reply> hear(std::chrono::milliseconds patience);

 private:
  explicit Speaker(net::Fd socket) : stream_(std::move(socket)) {}
  bool move(int patience_ms);

  net::ByteStream stream_;
  std::string unsent_;
  wire::ReplyParser parser_;
};

}  // namespace turno::torture

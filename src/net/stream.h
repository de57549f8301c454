// One connection on a loop: reads when there is something, writes what it can and the rest later.
// The base of all that a node talks to: clients, web browsers, peers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/fd.h"
#include "net/loop.h"

namespace turno::net {

class Stream : public Loop::Watcher {
 public:
  Stream(Loop& loop, Fd socket);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream();

  // What is to be written: append to it, then flush.
  [[nodiscard]] std::string& out() { return out_; }
  void flush();
  [[nodiscard]] std::size_t unwritten() const { return out_.size() - written_; }
  [[nodiscard]] bool is_open() const { return static_cast<bool>(bytes_); }
  // Writes what is left and then closes.
  void finish();
  // At once. Does not call closed().
  void close();

 protected:
  // There is something to read. Calls receive() once or more.
  virtual void readable() = 0;
  // The other end closed, or the connection broke. The stream may be destroyed in it.
  virtual void closed(std::string_view reason) = 0;
  // Only for connections that were under way: now they are made.
  virtual void writable() {}

  // How many bytes came; 0 if none. If the connection ended, ended() says so.
  std::size_t receive(std::span<char> room);
  [[nodiscard]] bool ended() const { return !end_.empty(); }
  // Stops and goes on reading, so that a client that sends more than it is answered waits.
  void pause_reading(bool paused);
  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] const Fd& socket() const { return bytes_.socket(); }

 private:
  void ready(std::uint32_t events) final;
  void update();

  Loop& loop_;
  ByteStream bytes_;
  std::string out_;
  std::size_t written_ = 0;  // of out_
  std::string end_;          // why it ended
  std::uint32_t watched_ = 0;
  bool paused_ = false, finishing_ = false;
};

}  // namespace turno::net

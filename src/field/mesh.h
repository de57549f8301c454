// Connections between the processes of a run, on loopback, made when they are first needed: one for
// each direction. Messages between two processes keep their order and arrive once, or not at all if
// the receiver is dead.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "field/board.h"
#include "field/host.h"
#include "net/byte_stream.h"

namespace turno::field {

class Mesh {
 public:
  struct Events {
    std::function<void(Envelope)> came;
    std::function<void(Envelope)> lost;  // if it is confirmed when messages are taken
    std::function<void(NodeId dead, Time crashed)> crash;
  };
  // Reads news of crashes from `news`, a pipe. `confirm`: tells senders what was taken.
  Mesh(Board& board, std::size_t self, net::Fd news, bool confirm, Events events);
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  ~Mesh();

  void send(std::size_t host, const Envelope& envelope);
  // It was taken from what waits here: its sender need not keep it any longer.
  void confirm(std::size_t host, const Envelope& envelope);
  // Writes what was sent, and waits for something to read, or so long.
  void exchange(std::int64_t wait_ns);

 private:
  struct Wire {
    net::ByteStream stream;
    std::size_t peer = 0;
    bool outgoing = false, ended = false, waits = false;
    std::string in, out;
    std::deque<Envelope> unconfirmed;
  };

  Wire& wire_to(std::size_t host);
  Wire& add(net::Fd socket, bool outgoing, std::size_t peer);
  void flush(Wire& wire);
  void read(Wire& wire);
  void take_frames(Wire& wire);
  void accept();
  void read_news();
  void end(Wire& wire);
  void sweep();
  void watch(Wire& wire, bool writing);

  Board& board_;
  net::Fd epoll_, listener_, news_;
  bool confirm_;
  Events events_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<Wire*> outgoing_;  // to each host; null: none
  bool any_ended_ = false;
};

// One who is told of crashes reads these from its pipe.
void tell_of_crash(const net::Fd& pipe, NodeId dead, Time crashed);

// A message as bytes: the same for sockets and MPI.
void write(const Envelope& envelope, std::string& out);
Envelope read_envelope(std::string_view bytes);

}  // namespace turno::field

#include "field/mesh.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "field/values.h"
#include "net/address.h"
#include "net/socket.h"

namespace turno::field {

namespace {

enum Frame : std::uint8_t { message_frame, confirmation_frame };

}  // namespace

void write(const Envelope& envelope, std::string& bytes) {
  wire::Writer out(bytes);
  wire::encode(out, envelope.from);
  wire::encode(out, envelope.to);
  out.varint(static_cast<std::uint64_t>(envelope.due));
  out.varint(envelope.number);
  wire::encode(out, envelope.clock);
  out.raw(envelope.bytes);
}

Envelope read_envelope(std::string_view bytes) {
  wire::Reader in(bytes);
  Envelope envelope;
  field::read(in, envelope.from);
  field::read(in, envelope.to);
  envelope.due = static_cast<Time>(in.varint());
  envelope.number = in.varint();
  field::read(in, envelope.clock);
  envelope.bytes = in.rest();
  TURNO_ASSERT(in.ok());
  return envelope;
}

void tell_of_crash(const net::Fd& pipe, NodeId dead, Time crashed) {
  const std::array<std::int64_t, 2> news = {static_cast<std::int64_t>(dead.value), crashed};
  // If its reader is dead too, nobody needs to know.
  [[maybe_unused]] const auto written = ::write(pipe.get(), news.data(), sizeof news);
}

Mesh::Mesh(Board& board, std::size_t self, net::Fd news, bool confirm, Events events)
    : board_(board),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      news_(std::move(news)),
      confirm_(confirm),
      events_(std::move(events)),
      outgoing_(Board::most_hosts) {
  auto listener = net::listen("127.0.0.1:0");
  if (!listener) throw std::runtime_error("cannot listen on 127.0.0.1");
  listener_ = std::move(*listener);
  const auto address = net::address_of(listener_);
  board.cells[self].port =
      static_cast<std::uint32_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  for (auto* fd : {&listener_, &news_}) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = fd}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd->get(), &event);
  }
}

Mesh::~Mesh() = default;

Mesh::Wire& Mesh::add(net::Fd socket, bool outgoing, std::size_t peer) {
  auto& wire = *wires_.emplace_back(std::make_unique<Wire>());
  wire.stream = net::ByteStream(std::move(socket));
  wire.outgoing = outgoing;
  wire.peer = peer;
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &wire}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wire.stream.descriptor(), &event);
  return wire;
}

void Mesh::watch(Wire& wire, bool writing) {
  if (wire.waits == writing) return;
  wire.waits = writing;
  epoll_event event{.events = writing ? EPOLLIN | EPOLLOUT : std::uint32_t{EPOLLIN},
                    .data = {.ptr = &wire}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, wire.stream.descriptor(), &event);
}

Mesh::Wire& Mesh::wire_to(std::size_t host) {
  if (outgoing_[host] == nullptr) {
    auto socket = net::connect("127.0.0.1:" + std::to_string(board_.cells[host].port.load()));
    const bool refused = !socket;
    outgoing_[host] = &add(refused ? net::Fd() : std::move(*socket), true, host);
    if (refused) outgoing_[host]->ended = any_ended_ = true;
  }
  return *outgoing_[host];
}

void Mesh::send(std::size_t host, const Envelope& envelope) {
  auto& wire = wire_to(host);
  wire::Writer out(wire.out);
  const auto begin = wire.out.size();
  out.u32(0);
  out.u8(message_frame);
  write(envelope, wire.out);
  out.patch_u32(begin, static_cast<std::uint32_t>(wire.out.size() - begin - 4));
  if (confirm_) wire.unconfirmed.push_back(envelope);
}

void Mesh::confirm(std::size_t host, const Envelope& envelope) {
  if (!confirm_) return;
  auto& wire = wire_to(host);
  wire::Writer out(wire.out);
  const auto begin = wire.out.size();
  out.u32(0);
  out.u8(confirmation_frame);
  wire::encode(out, envelope.to);
  wire::encode(out, envelope.from);
  out.varint(envelope.number);
  out.patch_u32(begin, static_cast<std::uint32_t>(wire.out.size() - begin - 4));
}

void Mesh::flush(Wire& wire) {
  if (wire.out.empty() || wire.ended) return;
  const auto moved = wire.stream.send_all(wire.out);
  wire.out.erase(0, moved.bytes);
  if (moved.ended) return end(wire);
  watch(wire, !wire.out.empty());
}

void Mesh::read(Wire& wire) {
  std::array<char, 65536> room;
  while (!wire.ended) {
    const auto moved = wire.stream.receive(room);
    wire.in.append(room.data(), moved.bytes);
    if (moved.ended) end(wire);
    if (moved.blocked || moved.ended) break;
  }
  take_frames(wire);
}

void Mesh::take_frames(Wire& wire) {
  std::string_view rest = wire.in;
  while (rest.size() >= 4) {
    const auto size = wire::Reader(rest).u32();
    if (rest.size() - 4 < size) break;
    const auto frame = rest.substr(4, size);
    rest.remove_prefix(std::size_t{4} + size);
    if (frame.front() == message_frame) {
      events_.came(read_envelope(frame.substr(1)));
      continue;
    }
    wire::Reader in(frame.substr(1));
    NodeId receiver, sender;
    field::read(in, receiver);
    field::read(in, sender);
    const auto number = in.varint();
    for (auto& out : wires_)
      std::erase_if(out->unconfirmed, [&](const Envelope& sent) {
        return sent.to == receiver && sent.from == sender && sent.number == number;
      });
  }
  wire.in.erase(0, wire.in.size() - rest.size());
}

void Mesh::accept() {
  while (auto socket = net::accept(listener_)) add(std::move(socket), false, 0);
}

void Mesh::read_news() {
  std::array<std::int64_t, 2> news{};
  while (::read(news_.get(), news.data(), sizeof news) == sizeof news)
    events_.crash(NodeId{static_cast<std::size_t>(news[0])}, news[1]);
}

void Mesh::end(Wire& wire) { wire.ended = any_ended_ = true; }

// What had not been taken by one who is dead is lost, and so is what was not even written.
void Mesh::sweep() {
  if (!any_ended_) return;
  any_ended_ = false;
  std::vector<std::unique_ptr<Wire>> ended;
  for (auto& wire : wires_)
    if (wire->ended) ended.push_back(std::move(wire));
  std::erase(wires_, nullptr);
  for (auto& wire : ended) {
    if (wire->outgoing) outgoing_[wire->peer] = nullptr;
    for (auto& envelope : wire->unconfirmed) events_.lost(std::move(envelope));
  }
}

void Mesh::exchange(std::int64_t wait_ns) {
  for (std::size_t i = 0; i < wires_.size(); ++i) flush(*wires_[i]);
  if (any_ended_) wait_ns = 0;
  pollfd ready{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
  const timespec patience{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
  if (::ppoll(&ready, 1, &patience, nullptr) > 0) {
    std::array<epoll_event, 128> events;
    const auto count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
      void* what = events[static_cast<std::size_t>(i)].data.ptr;
      if (what == &listener_) {
        accept();
      } else if (what == &news_) {
        read_news();
      } else {
        read(*static_cast<Wire*>(what));
      }
    }
  }
  sweep();
}

}  // namespace turno::field

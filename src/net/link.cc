#include "net/link.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/socket.h"

namespace turno::net {

namespace {

constexpr std::string_view magic = "turno";
constexpr std::chrono::milliseconds first_pause{10}, longest_pause{500};

}  // namespace

void write_hello(std::string& out, const Identity& self) {
  wire::write_frame(out, 0, 0, static_cast<std::uint8_t>(LinkKind::hello), [&](wire::Writer& body) {
    body.bytes(magic);
    body.varint(self.key);
    body.varint(self.id);
  });
}

std::optional<Hello> read_hello(const wire::Frame& frame) {
  if (frame.kind != static_cast<std::uint8_t>(LinkKind::hello)) return {};
  wire::Reader body(frame.body);
  const bool right = body.bytes() == magic;
  Hello hello;
  hello.key = body.varint();
  hello.id = body.varint();
  if (!right || !body.ok()) return {};
  return hello;
}

Link::Link(Loop& loop, Identity self, std::string address, Loop::Clock::duration latency,
           std::function<void(const std::string&)> trouble)
    : loop_(loop),
      self_(self),
      address_(std::move(address)),
      latency_(latency),
      trouble_(std::move(trouble)),
      alive_(std::make_shared<Link*>(this)) {
  dial();
}

Link::~Link() {
  *alive_ = nullptr;
  loop_.cancel(redial_);
  loop_.cancel(latency_timer_);
  if (socket_) loop_.forget(socket_.get(), *this);
}

bool Link::up() const {
  const std::scoped_lock guard(mutex_);
  return state_ == State::up;
}

std::size_t Link::backlog() const {
  const std::scoped_lock guard(mutex_);
  return sizes_.size();
}

void Link::added(std::size_t size) {
  sizes_.push_back(static_cast<std::uint32_t>(size));
  if (latency_ > Loop::Clock::duration::zero()) {
    held_.push_back(Loop::Clock::now() + latency_);
    held_bytes_ += size;
    if (held_.size() > 1) return;  // the timer runs
    loop_.post([alive = alive_] {
      if (*alive != nullptr) (*alive)->wait_for_latency();
    });
    return;
  }
  if (state_ != State::up || wants_out_) return;
  if (!loop_.here()) return write();
  if (flush_planned_) return;
  flush_planned_ = true;
  loop_.later([alive = alive_] {
    if (*alive == nullptr) return;
    const std::scoped_lock guard((*alive)->mutex_);
    (*alive)->flush_planned_ = false;
    (*alive)->write();
  });
}

void Link::wait_for_latency() {
  const std::scoped_lock guard(mutex_);
  while (!held_.empty() && held_.front() <= Loop::Clock::now()) {
    held_bytes_ -= sizes_[sizes_.size() - held_.size()];
    held_.pop_front();
  }
  write();
  if (held_.empty()) return;
  loop_.cancel(latency_timer_);
  latency_timer_ = loop_.after(held_.front() - Loop::Clock::now(), [this] { wait_for_latency(); });
}

void Link::write() {
  if (state_ != State::up) return;
  const auto end = bytes_.size() - held_bytes_;
  bool blocked = false;
  while (sent_ < end) {
    const auto count =
        ::send(socket_.get(), bytes_.data() + sent_, end - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      // A broken connection is seen when it is read.
      blocked = errno == EAGAIN || errno == EWOULDBLOCK;
      break;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  if (blocked == wants_out_) return;
  wants_out_ = blocked;
  loop_.change(socket_.get(), EPOLLIN | (blocked ? static_cast<std::uint32_t>(EPOLLOUT) : 0U),
               *this);
}

void Link::dial() {
  auto socket = connect(address_);
  if (!socket) return fail(socket.error());
  const std::scoped_lock guard(mutex_);
  socket_ = std::move(*socket);
  state_ = State::connecting;
  wants_out_ = false;
  reader_ = {};
  loop_.watch(socket_.get(), EPOLLOUT, *this);
}

void Link::ready(std::uint32_t events) {
  if (state_ == State::connecting) return greet();
  if ((events & EPOLLOUT) != 0) {
    const std::scoped_lock guard(mutex_);
    write();
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read();
}

void Link::greet() {
  if (const int error = error_of(socket_)) return fail(std::strerror(error));
  std::string hello;
  write_hello(hello, self_);
  // A fresh connection has room for so little.
  if (::send(socket_.get(), hello.data(), hello.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(hello.size()))
    return fail("it took no greeting");
  {
    const std::scoped_lock guard(mutex_);
    state_ = State::greeting;
  }
  loop_.change(socket_.get(), EPOLLIN, *this);
}

void Link::read() {
  const auto room = reader_.prepare(4096);
  const auto count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return fail(count == 0 ? "it closed the connection" : std::strerror(errno));
  reader_.commit(static_cast<std::size_t>(count));
  for (;;) {
    const auto status = reader_.next();
    if (status == wire::Status::more) return;
    if (status == wire::Status::error) return fail(reader_.error());
    wire::Reader body(reader_.frame().body);
    const auto received = body.varint();
    const auto kind = static_cast<LinkKind>(reader_.frame().kind);
    const bool known = kind == LinkKind::welcome || kind == LinkKind::acknowledge;
    if (!body.ok() || !known) return fail("it answered nonsense");
    const std::scoped_lock guard(mutex_);
    const auto ready = sizes_.size() - held_.size();
    const bool possible = received >= first_ && received <= first_ + ready;
    if (!possible) {
      // It has forgotten us, or we it: there is no way to be exact again within this view.
      state_ = State::down;
      break;
    }
    if (kind == LinkKind::welcome) {
      welcome(received);
    } else {
      acknowledge(received);
    }
  }
  fail("it claims to have received what was not sent");
}

void Link::welcome(std::uint64_t received) {
  acknowledge(received);
  sent_ = head_;
  state_ = State::up;
  pause_ = std::chrono::milliseconds(0);
  write();
}

void Link::acknowledge(std::uint64_t received) {
  for (; first_ < received; ++first_) {
    head_ += sizes_.front();
    sizes_.pop_front();
  }
  if (head_ < bytes_.size() / 2 || (head_ < 65536 && head_ != bytes_.size())) return;
  bytes_.erase(0, head_);
  sent_ -= std::min(sent_, head_);
  head_ = 0;
  if (bytes_.empty() && bytes_.capacity() > std::size_t{1} << 20) bytes_.shrink_to_fit();
}

void Link::fail(const std::string& reason) {
  {
    const std::scoped_lock guard(mutex_);
    if (socket_) loop_.forget(socket_.get(), *this);
    socket_.reset();
    state_ = State::down;
    wants_out_ = false;
  }
  ++reconnections_;
  pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
  loop_.cancel(redial_);
  redial_ = loop_.after(pause_, [this] { dial(); });
  trouble_(reason);  // may destroy this
}

}  // namespace turno::net

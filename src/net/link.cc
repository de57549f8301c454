#include "net/link.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cstring>

#include "net/log.h"
#include "net/socket.h"

namespace turno::net {

namespace {

constexpr std::string_view magic = "turno";
constexpr std::chrono::milliseconds first_pause{10}, longest_pause{500};

void give_back_room(std::string& bytes) {
  if (bytes.empty() && bytes.capacity() > std::size_t{1} << 20) bytes.shrink_to_fit();
}

}  // namespace

void write_hello(std::string& out, const Hello& hello) {
  wire::write_frame(out, 0, 0, static_cast<std::uint8_t>(LinkKind::hello), [&](wire::Writer& body) {
    body.bytes(magic);
    body.varint(hello.key);
    body.varint(hello.id);
    body.varint(hello.to);
    body.varint(hello.generation);
  });
}

std::optional<Hello> read_hello(const wire::Frame& frame) {
  if (frame.kind != static_cast<std::uint8_t>(LinkKind::hello)) return {};
  wire::Reader body(frame.body);
  const bool right = body.bytes() == magic;
  Hello hello;
  hello.key = body.varint();
  hello.id = body.varint();
  hello.to = body.varint();
  hello.generation = body.varint();
  if (!right || !body.ok()) return {};
  return hello;
}

void write_count(std::string& out, LinkKind kind, const Count& count) {
  wire::write_frame(out, 0, 0, static_cast<std::uint8_t>(kind), [&](wire::Writer& body) {
    body.varint(count.generation);
    body.varint(count.received);
  });
}

std::optional<Count> read_count(const wire::Frame& frame) {
  const auto kind = static_cast<LinkKind>(frame.kind);
  if (kind != LinkKind::welcome && kind != LinkKind::acknowledge) return {};
  wire::Reader body(frame.body);
  Count count;
  count.generation = body.varint();
  count.received = body.varint();
  if (!body.ok()) return {};
  return count;
}

// The first generation is newer than those of earlier links of this process to the same peer.
Link::Link(Loop& loop, Identity self, Peer peer, Handlers handlers, std::size_t most_backlog)
    : loop_(loop),
      self_(self),
      peer_(std::move(peer)),
      handlers_(std::move(handlers)),
      most_backlog_(most_backlog),
      generation_(static_cast<std::uint64_t>(Loop::Clock::now().time_since_epoch().count())),
      alive_(std::make_shared<Link*>(this)) {
  dial();
}

Link::~Link() {
  *alive_ = nullptr;
  loop_.cancel(redial_);
  loop_.cancel(latency_timer_);
  if (stream_) loop_.forget(stream_.descriptor(), *this);
}

bool Link::up() const {
  const std::scoped_lock guard(writing_);
  return state_ == State::up;
}

std::size_t Link::backlog() const {
  const std::scoped_lock guard(mutex_);
  return backlog_;
}

std::size_t Link::backlog_bytes() const {
  const std::scoped_lock guard(mutex_);
  return backlog_bytes_;
}

bool Link::added(std::uint32_t epoch, std::uint8_t kind, std::size_t size) {
  fresh_sizes_.push_back(static_cast<std::uint32_t>(size));
  ++backlog_;
  backlog_bytes_ += size;
  newest_epoch_ = std::max(newest_epoch_, epoch);
  const bool delayed = peer_.latency + peer_.spacing > Loop::Clock::duration::zero();
  if (surging_) surge_ += size;
  if (backlog_bytes_ > most_backlog_ + surge_) {
    drop_fresh();
    loop_.post([alive = alive_] {
      if (*alive == nullptr) return;
      (*alive)->start_anew((*alive)->generation_ + 1, "more waits for it than a link keeps");
    });
    return false;
  }
  if (delayed) {
    const auto spacing = kind < peer_.spaced_below ? peer_.spacing : Loop::Clock::duration::zero();
    last_due_ = std::max(Loop::Clock::now() + peer_.latency, last_due_ + spacing);
    due_.push_back(last_due_);
    if (due_.size() > 1) return false;  // the timer runs
    loop_.post([alive = alive_] {
      if (*alive != nullptr) (*alive)->wait_for_latency();
    });
    return false;
  }
  if (!writable_) return false;
  if (!loop_.here()) return true;
  if (std::exchange(flush_planned_, true)) return false;
  loop_.later([alive = alive_] {
    if (*alive == nullptr) return;
    (*alive)->flush_planned_ = false;
    (*alive)->flush();
  });
  return false;
}

// Of no epoch: it is no part of what the peer must hear without a hole.
void Link::ping() {
  if (state_ != State::up) return;
  const std::scoped_lock guard(mutex_);
  if (backlog_ > 0) return;
  wire::write_frame(fresh_, 0, 0, static_cast<std::uint8_t>(LinkKind::ping), [](wire::Writer&) {});
  static_cast<void>(added(0, static_cast<std::uint8_t>(LinkKind::ping), fresh_.size()));
}

void Link::begin_surge() {
  const std::scoped_lock guard(mutex_);
  surge_ = 0;
  surging_ = true;
}

void Link::end_surge() {
  const std::scoped_lock guard(mutex_);
  surging_ = false;
}

void Link::drop_fresh() {
  for (const auto size : fresh_sizes_) backlog_bytes_ -= size;
  backlog_ -= fresh_sizes_.size();
  fresh_sizes_.clear();
  fresh_.clear();
  give_back_room(fresh_);
  due_.clear();
  open_from_ = std::uint64_t{newest_epoch_} + 1;
}

void Link::post_flush() {
  if (flush_posted_.exchange(true)) return;
  loop_.post([alive = alive_] {
    if (*alive == nullptr) return;
    (*alive)->flush_posted_ = false;
    (*alive)->flush();
  });
}

void Link::wait_for_latency() {
  {
    const std::scoped_lock guard(mutex_);
    while (!due_.empty() && due_.front() <= Loop::Clock::now()) due_.pop_front();
    loop_.cancel(latency_timer_);
    if (!due_.empty())
      latency_timer_ =
          loop_.after(due_.front() - Loop::Clock::now(), [this] { wait_for_latency(); });
  }
  flush();
}

// Takes over the frames that were appended, but for those that the latency still holds back.
void Link::collect() {
  const std::scoped_lock guard(mutex_);
  const auto frames = fresh_sizes_.size() - due_.size();
  auto bytes = fresh_.size();
  for (auto i = frames; i < fresh_sizes_.size(); ++i) bytes -= fresh_sizes_[i];
  if (frames == 0) return;
  if (bytes_.empty() && bytes == fresh_.size()) {
    bytes_.swap(fresh_);
  } else {
    bytes_.append(fresh_, 0, bytes);
    fresh_.erase(0, bytes);
  }
  const auto end = fresh_sizes_.begin() + static_cast<std::ptrdiff_t>(frames);
  sizes_.insert(sizes_.end(), fresh_sizes_.begin(), end);
  fresh_sizes_.erase(fresh_sizes_.begin(), end);
  give_back_room(fresh_);
}

void Link::flush() {
  const std::scoped_lock guard(writing_);
  if (!wants_out_) write();
}

void Link::write() {
  if (state_ != State::up) return;
  writable_ = true;
  collect();
  // A broken connection is seen when it is read.
  const auto moved = stream_.send_all(std::string_view(bytes_).substr(sent_));
  const bool blocked = moved.blocked;
  sent_ += moved.bytes;
  if (blocked) writable_ = false;
  if (blocked == wants_out_) return;
  wants_out_ = blocked;
  loop_.change(stream_.descriptor(),
               EPOLLIN | (blocked ? static_cast<std::uint32_t>(EPOLLOUT) : 0U), *this);
}

void Link::dial() {
  auto socket = connect(peer_.address);
  if (!socket) return fail(socket.error());
  const std::scoped_lock guard(writing_);
  stream_ = ByteStream(std::move(*socket));
  state_ = State::connecting;
  wants_out_ = false;
  reader_ = {};
  loop_.watch(stream_.descriptor(), EPOLLOUT, *this);
}

void Link::ready(std::uint32_t events) {
  if (state_ == State::connecting) return greet();
  if ((events & EPOLLOUT) != 0) {
    const std::scoped_lock guard(writing_);
    write();
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read();
}

void Link::greet() {
  if (const int error = error_of(stream_.socket())) return fail(std::strerror(error));
  std::string hello;
  write_hello(hello, {self_.id, self_.key, peer_.id, generation_});
  // A fresh connection has room for so little.
  if (stream_.send(hello).bytes != hello.size()) return fail("it took no greeting");
  {
    const std::scoped_lock guard(writing_);
    state_ = State::greeting;
  }
  loop_.change(stream_.descriptor(), EPOLLIN, *this);
}

void Link::read() {
  const auto room = reader_.prepare(4096);
  const auto moved = stream_.receive(room);
  if (moved.ended) return fail(moved.error == 0 ? "it closed the connection" : moved.reason());
  reader_.commit(moved.bytes);
  for (;;) {
    const auto status = reader_.next();
    if (status == wire::Status::more) return;
    if (status == wire::Status::error) return fail(reader_.error());
    const auto answer = read_count(reader_.frame());
    if (!answer) return fail("it answered nonsense");
    if (!take(static_cast<LinkKind>(reader_.frame().kind), *answer)) return;
  }
}

// False: the connection has ended.
bool Link::take(LinkKind kind, const Count& count) {
  if (count.generation != generation_) {
    // A newer generation than this link has begun: others have spoken in this node's name.
    if (older(generation_, count.generation))
      start_anew(count.generation + 1, "it has heard another one in this node's name");
    else
      fail("it answered another connection");
    return false;
  }
  bool possible = false;
  {
    const std::scoped_lock guard(writing_);
    possible = count.received >= first_ && count.received <= first_ + sizes_.size();
    if (possible) acknowledge(count.received);
    if (possible && kind == LinkKind::welcome) welcome();
  }
  if (!possible) {
    start_anew(generation_ + 1, "it claims to have received what was not sent");
    return false;
  }
  heard_ = Loop::Clock::now();
  if (kind != LinkKind::welcome || !std::exchange(gap_, false)) return true;
  std::uint32_t lost = 0;
  {
    const std::scoped_lock guard(mutex_);
    lost = static_cast<std::uint32_t>(open_from_ - 1);
  }
  const auto alive = alive_;
  handlers_.gap(lost);  // may destroy this
  return *alive != nullptr;
}

void Link::welcome() {
  sent_ = head_;
  state_ = State::up;
  pause_ = std::chrono::milliseconds(0);
  write();
}

void Link::start_anew(std::uint64_t generation, const std::string& reason) {
  {
    const std::scoped_lock guard(writing_, mutex_);
    drop_fresh();
    backlog_ = backlog_bytes_ = 0;
    bytes_.clear();
    give_back_room(bytes_);
    sizes_.clear();
    head_ = sent_ = 0;
    first_ = 0;
    generation_ = generation;
  }
  gap_ = true;
  ++gaps_;
  if (const auto unsaid = warnings_.admit())
    log::warning("the link to {} loses frames and starts anew: {}{}", peer_.name, reason, *unsaid);
  fail(reason);
}

void Link::acknowledge(std::uint64_t received) {
  std::size_t bytes = 0;
  const auto frames = static_cast<std::size_t>(received - first_);
  for (; first_ < received; ++first_) {
    bytes += sizes_.front();
    sizes_.pop_front();
  }
  head_ += bytes;
  {
    const std::scoped_lock guard(mutex_);
    backlog_ -= frames;
    backlog_bytes_ -= bytes;
  }
  if (head_ < bytes_.size() / 2 || (head_ < 65536 && head_ != bytes_.size())) return;
  bytes_.erase(0, head_);
  sent_ -= std::min(sent_, head_);
  head_ = 0;
  give_back_room(bytes_);
}

void Link::fail(const std::string& reason) {
  {
    const std::scoped_lock guard(writing_);
    if (stream_) loop_.forget(stream_.descriptor(), *this);
    stream_.close();
    state_ = State::down;
    wants_out_ = writable_ = false;
  }
  ++reconnections_;
  pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
  loop_.cancel(redial_);
  redial_ = loop_.after(pause_, [this] { dial(); });
  handlers_.trouble(reason);  // may destroy this
}

}  // namespace turno::net

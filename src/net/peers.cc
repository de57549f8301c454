#include "net/peers.h"

#include <chrono>
#include <utility>

#include "net/log.h"
#include "net/socket.h"
#include "net/stream.h"

namespace turno::net {

namespace {

constexpr std::chrono::milliseconds acknowledge_within{100};
constexpr std::size_t acknowledge_bytes = std::size_t{32} << 10;
constexpr std::size_t read_size = std::size_t{64} << 10;

// Whoever flushes a link may be the last to let go of it, but only the loop's thread may end it.
std::shared_ptr<Link> ended_by(Loop& loop, std::unique_ptr<Link> link) {
  return {link.release(), [&loop](Link* last) {
            const std::shared_ptr<Link> owned(last);
            if (!loop.here()) loop.post([owned] {});
          }};
}

}  // namespace

// A connection that somebody made to this node.
class Peers::Inbound final : public Stream {
 public:
  Inbound(Peers& peers, Loop& loop, Fd socket)
      : Stream(loop, std::move(socket)),
        peers_(peers),
        from_(peer_of(this->socket())),
        patience_(loop.after(peers.options_.time_to_greet,
                             [this] { peers_.refuse(*this, "it did not say hello"); })) {
    reader_.limit(longest_hello);
  }
  ~Inbound() override {
    loop().cancel(patience_);
    loop().cancel(acknowledgement_);
  }
  Inbound(const Inbound&) = delete;
  Inbound& operator=(const Inbound&) = delete;

  [[nodiscard]] std::uint64_t id() const { return id_; }  // 0: has not said hello
  [[nodiscard]] const std::string& from() const { return from_; }

 private:
  void readable() override {
    const auto room = reader_.prepare(id_ == 0 ? longest_hello : read_size);
    const auto size = receive(room);
    if (ended()) return closed("it closed the connection");
    reader_.commit(size);
    unacknowledged_ += size;
    const auto guard = alive_;  // a handler may end this connection
    for (;;) {
      const auto status = reader_.next();
      if (status == wire::Status::more) break;
      if (status == wire::Status::error) return peers_.refuse(*this, reader_.error());
      if (id_ == 0) {
        if (!greet()) return;
        continue;
      }
      const bool taken = reader_.frame().kind == static_cast<std::uint8_t>(LinkKind::ping) ||
                         peers_.handlers_.frame(id_, reader_.frame());
      if (!*guard) return;
      if (!taken) return peers_.refuse(*this, "its frames come too early to be kept");
      ++peers_.received_[id_].received;
    }
    if (id_ != 0) plan_acknowledgement();
  }

  void closed(std::string_view reason) override {
    const auto id = id_;
    auto& peers = peers_;
    const std::string why(reason);
    peers.remove(*this);
    if (id != 0) peers.report(id, why);
  }

  bool greet() {
    const auto hello = read_hello(reader_.frame());
    if (!hello) {
      peers_.refuse(*this, "it did not begin with a hello");
      return false;
    }
    const auto& self = peers_.self_;
    if (self.key == 0 || hello->key != self.key || hello->id == 0 || hello->id == self.id) {
      peers_.refuse(*this, "it does not belong to this cluster");
      return false;
    }
    if (hello->to != self.id) {
      peers_.refuse(*this, "it looks for another node");
      return false;
    }
    const Count fresh{hello->generation, 0};
    auto& known = peers_.received_.try_emplace(hello->id, fresh).first->second;
    if (older(hello->generation, known.generation)) {
      // A connection that was given up before; or another one spoke in the sender's name, which
      // must then know what to exceed.
      write_count(LinkKind::welcome, known);
      peers_.refuse(*this, "it counts as it did before it started anew");
      return false;
    }
    if (known.generation != hello->generation) known = fresh;
    peers_.supersede(hello->id);
    peers_.forget_stranger(*this);
    id_ = hello->id;
    reader_.limit(wire::max_frame);
    loop().cancel(patience_);
    write_count(LinkKind::welcome, known);
    return true;
  }

  void plan_acknowledgement() {
    if (unacknowledged_ >= acknowledge_bytes) return acknowledge();
    if (acknowledgement_.number != 0) return;
    acknowledgement_ = loop().after(acknowledge_within, [this] { acknowledge(); });
  }

  void acknowledge() { write_count(LinkKind::acknowledge, peers_.received_[id_]); }

  void write_count(LinkKind kind, const Count& count) {
    loop().cancel(acknowledgement_);
    unacknowledged_ = 0;
    net::write_count(out(), kind, count);
    flush();
  }

  friend class Peers;
  Peers& peers_;
  const std::string from_;
  std::uint64_t id_ = 0;
  std::optional<std::list<Inbound*>::iterator> stranger_;  // until it has said hello
  wire::FrameReader reader_;
  std::size_t unacknowledged_ = 0;  // bytes
  Loop::Timer patience_, acknowledgement_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

tl::expected<std::unique_ptr<Peers>, Failure> Peers::listen(Loop& loop, std::string_view address,
                                                            Handlers handlers,
                                                            const Options& options) {
  auto peers = std::make_unique<Peers>(loop, std::move(handlers), options);
  auto acceptor = Acceptor::listen(
      loop, address, [raw = peers.get()](Fd socket) { raw->admit(std::move(socket)); });
  if (!acceptor) return tl::unexpected(acceptor.error());
  peers->acceptor_ = std::move(*acceptor);
  return peers;
}

Peers::Peers(Loop& loop, Handlers handlers, const Options& options)
    : loop_(loop), handlers_(std::move(handlers)), options_(options) {
  ping();
}
Peers::~Peers() { loop_.cancel(ping_timer_); }

void Peers::ping() {
  for (const auto& [id, known] : known_) known.link->ping();
  ping_timer_ = loop_.after(options_.ping_every, [this] { ping(); });
}

void Peers::admit(Fd socket) {
  if (strangers_.size() >= options_.most_strangers)
    refuse(*strangers_.front(), "too many others came before it said hello");
  auto inbound = std::make_unique<Inbound>(*this, loop_, std::move(socket));
  auto* key = inbound.get();
  inbound_.emplace(key, std::move(inbound));
  key->stranger_ = strangers_.insert(strangers_.end(), key);
}

void Peers::forget_stranger(Inbound& inbound) {
  if (inbound.stranger_) strangers_.erase(*std::exchange(inbound.stranger_, {}));
}

void Peers::remove(Inbound& inbound) {
  *inbound.alive_ = false;
  forget_stranger(inbound);
  inbound.close();
  // It may be at work right now: it goes when its work is done.
  auto node = inbound_.extract(&inbound);
  if (node.empty()) return;
  loop_.later([gone = std::shared_ptr<Inbound>(std::move(node.mapped()))] {});
}

// A peer that dials again has given up its former connection: what is still in that one comes
// again.
void Peers::supersede(std::uint64_t id) {
  std::vector<Inbound*> former;
  for (const auto& [inbound, owner] : inbound_)
    if (inbound->id() == id) former.push_back(inbound);
  for (auto* inbound : former) remove(*inbound);
}

void Peers::refuse(Inbound& inbound, const std::string& reason) {
  ++refused_;
  if (const auto unsaid = refusals_.admit())
    log::warning("refused a peer connection from {}: {}{}", inbound.from(), reason, *unsaid);
  const auto id = inbound.id();
  remove(inbound);
  if (id != 0) handlers_.trouble(id);
}

void Peers::report(std::uint64_t id, std::string_view reason) {
  const auto found = known_.find(id);
  const auto name = found == known_.end() ? std::string("a former peer") : found->second.peer.name;
  log::debug("the connection with {} broke: {}", name, reason);
  handlers_.trouble(id);
}

void Peers::set(const std::vector<Peer>& peers) {
  std::unordered_map<std::uint64_t, Known> next;
  for (const auto& peer : peers) {
    auto found = known_.find(peer.id);
    if (found != known_.end()) {
      next.emplace(peer.id, std::move(found->second));
      known_.erase(found);
      continue;
    }
    Link::Handlers handlers{.trouble =
                                [this, id = peer.id](const std::string& reason) {
                                  loop_.later([this, id, reason] { report(id, reason); });
                                },
                            .gap =
                                [this, id = peer.id](std::uint32_t epoch) {
                                  loop_.later([this, id, epoch] { handlers_.gap(id, epoch); });
                                }};
    auto link =
        std::make_unique<Link>(loop_, self_, peer, std::move(handlers), options_.most_backlog);
    next.emplace(peer.id, Known{peer, ended_by(loop_, std::move(link))});
  }
  known_.swap(next);
  for (const auto& [id, gone] : next) {
    received_.erase(id);
    supersede(id);
  }
}

std::shared_ptr<Link> Peers::link(std::uint64_t id) const {
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : found->second.link;
}

}  // namespace turno::net

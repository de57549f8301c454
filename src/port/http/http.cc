#include "port/http/http.h"

#include <array>
#include <utility>

#include "net/log.h"
#include "net/socket.h"
#include "net/stream.h"
#include "wire/receive_buffer.h"

namespace turno::port {

namespace {

constexpr std::size_t read_size = std::size_t{4} << 10;
constexpr std::size_t most_unread = std::size_t{64} << 10;  // bytes of a client that does not read

}  // namespace

// Requests are answered one after the other, in their order.
class Http::Connection final : public net::Stream {
 public:
  Connection(Http& http, net::Fd socket)
      : Stream(http.loop_, std::move(socket)), http_(http), from_(net::peer_of(this->socket())) {
    plan();
  }
  ~Connection() override {
    *alive_ = false;
    loop().cancel(timer_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // When it last said something; of one that is owed an answer, or was, just now.
  [[nodiscard]] net::Loop::Clock::time_point quiet_since() const {
    return waiting_ || unwritten() > 0 ? net::Loop::Clock::time_point::max() : quiet_since_;
  }

 private:
  enum class Patience : std::uint8_t { none, head, idle, linger };

  void readable() override {
    const auto size = receive(buffer_.prepare(read_size));
    if (ended()) return closed("closed by the client");
    if (ending_) return;  // what comes now is not looked at, so that the response is not lost
    quiet_since_ = loop().now();
    buffer_.commit(size);
    starving_ = false;
    work();
  }

  void writable() override {
    flush();
    work();
  }

  void closed(std::string_view reason) override {
    log::debug("http {}: {}", from_, reason);
    loop().cancel(timer_);
    http_.remove(*this);
  }

  void work() {
    if (working_ || !is_open()) return;
    working_ = true;
    do {
      while (has_room() && step()) continue;
      flush();
      // If it wrote enough, nobody would call again.
    } while (!starving_ && has_room() && !waiting_ && !ending_);
    working_ = false;
    // While a response is awaited, or not read, no more is read than a little.
    pause_reading(!ending_ && (waiting_ || !has_room()) && buffer_.readable().size() > read_size);
    plan();
  }

  [[nodiscard]] bool has_room() {
    if (unwritten() >= most_unread) flush();
    return unwritten() < most_unread;
  }

  // One request, if there is a whole one.
  bool step() {
    if (waiting_ || ending_) return false;
    const auto parsed = parse_request(buffer_.readable());
    starving_ = parsed && !*parsed;
    if (!parsed) refuse(parsed.error());
    if (!parsed || starving_) return false;
    buffer_.consume((*parsed)->size);
    patience_ = Patience::none;
    fresh_ = false;
    request_ = (*parsed)->request;
    // Where the body ends and the next request begins is not found out.
    if (request_.body) request_.keep_alive = false;
    waiting_ = true;
    http_.answer_(request_, [this, alive = alive_](const HttpResponse& response) {
      if (!*alive) return;
      respond(response);
      work();
    });
    return true;
  }

  void respond(const HttpResponse& response) {
    waiting_ = false;
    log::debug("http {}: {} {} {}", from_, request_.method, request_.path, response.status);
    write_response(out(), request_, response);
    if (request_.keep_alive) return;
    ending_ = true;
    finish();
  }

  void refuse(const HttpError& error) {
    log::warning("http {}: refused: {}", from_, error.reason);
    request_ = {};  // and does not keep the connection
    respond(failure_response(error));
  }

  // Starts the clock for what the client has to do next.
  void plan() {
    if (waiting_) return expect(Patience::none);
    if (unwritten() > 0) return expect(Patience::idle);
    if (ending_) return expect(Patience::linger);
    expect(fresh_ || !buffer_.readable().empty() ? Patience::head : Patience::idle);
  }

  void expect(Patience patience) {
    // Sending a little does not give more time, reading a little does.
    if (patience == patience_ && patience != Patience::idle) return;
    patience_ = patience;
    loop().cancel(timer_);
    if (patience == Patience::none) return;
    const auto& times = http_.times_;
    const auto time = patience == Patience::head   ? times.head
                      : patience == Patience::idle ? times.idle
                                                   : times.linger;
    timer_ = loop().after(time, [this] { lose_patience(); });
  }

  void lose_patience() {
    timer_ = {};
    if (patience_ != Patience::head || buffer_.readable().empty()) return closed("idle");
    refuse({408, "the request did not come to its end in time"});
    plan();
  }

  Http& http_;
  const std::string from_;
  wire::ReceiveBuffer buffer_;
  HttpRequest request_;    // that is answered now
  bool fresh_ = true;      // there has been no request yet
  bool starving_ = false;  // there is no whole request in the buffer
  bool waiting_ = false;   // for the response
  bool ending_ = false;    // the last response was given
  bool working_ = false;   // further down the stack
  Patience patience_ = Patience::none;
  net::Loop::Clock::time_point quiet_since_ = net::Loop::Clock::now();
  net::Loop::Timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

Http::Http(net::Loop& loop, net::Fd socket, Answer answer, Times times)
    : loop_(loop), answer_(std::move(answer)), times_(times) {
  acceptor_ = std::make_unique<net::Acceptor>(loop, std::move(socket),
                                              [this](net::Fd made) { admit(std::move(made)); });
}

Http::~Http() = default;

void Http::admit(net::Fd socket) {
  // Who says nothing makes room for who comes, so that a probe of the node's health is answered.
  if (connections_.size() >= most_connections) {
    Connection* quietest = nullptr;
    for (const auto& [connection, owned] : connections_)
      if (quietest == nullptr || connection->quiet_since() < quietest->quiet_since())
        quietest = connection;
    if (!std::exchange(full_, true))
      log::warning("http: {} connections; the quietest are closed", most_connections);
    remove(*quietest);
  }
  auto connection = std::make_unique<Connection>(*this, std::move(socket));
  auto* key = connection.get();
  connections_.emplace(key, std::move(connection));
}

void Http::remove(Connection& connection) {
  connection.close();
  auto node = connections_.extract(&connection);
  if (node.empty()) return;
  if (connections_.size() + 1 < most_connections) full_ = false;
  // It may be at work right now: it goes when its work is done.
  loop_.later([gone = std::shared_ptr<Connection>(std::move(node.mapped()))] {});
}

}  // namespace turno::port

#include "load.h"

#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>

#include "net/socket.h"

namespace turno::bench {

namespace {

class RespTalker final : public Talker {
 public:
  RespTalker(const std::string& address, const Cycle& cycle)
      : connection_(address), cycle_(cycle) {}

  [[nodiscard]] int descriptor() const override { return connection_.descriptor(); }

  void begin() override {
    if (cycle_.before.empty()) return ask();
    connection_.write(cycle_.before);
    awaited_ = 1;
  }

  Progress read() override {
    Progress progress;
    connection_.receive();
    while (const auto* reply = connection_.next()) {
      if (asked_ && is_refused(*reply)) {
        awaited_ = 0;
        const auto pause = *cycle_.requests[next_].again;
        if (pause.count() == 0) {
          ask();
        } else {
          progress.pause = pause;
        }
        continue;
      }
      if (--awaited_ > 0) continue;
      if (asked_ && ++next_ == cycle_.requests.size()) {
        next_ = 0;
        ++progress.finished;
      }
      ask();
    }
    return progress;
  }

  void go_on() override { ask(); }

 private:
  void ask() {
    const auto& request = cycle_.requests[next_];
    asked_ = true;
    awaited_ = request.replies;
    connection_.write(request.bytes);
  }
  [[nodiscard]] bool is_refused(const wire::Reply& reply) const {
    using Kind = wire::Reply::Kind;
    return cycle_.requests[next_].again &&
           (reply.is_null() || (reply.kind == Kind::integer && reply.integer == 0));
  }

  RespConnection connection_;
  const Cycle cycle_;
  std::size_t next_ = 0;  // request, or the one whose replies are awaited
  std::uint32_t awaited_ = 0;
  bool asked_ = false;  // for a request of the cycle
};

}  // namespace

RespConnection::RespConnection(const std::string& address) {
  auto socket = net::connect(address);
  if (!socket) throw std::runtime_error(socket.error());
  pollfd ready{.fd = socket->get(), .events = POLLOUT, .revents = 0};
  ::poll(&ready, 1, 5000);
  if (net::error_of(*socket) != 0) throw std::runtime_error("cannot connect to " + address);
  socket_ = std::move(*socket);
}

void RespConnection::write(const std::string& bytes) const {
  if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("a server does not read");
}

void RespConnection::receive() {
  const auto room = parser_.prepare(4096);
  const auto size = ::recv(socket_.get(), room.data(), room.size(), 0);
  if (size <= 0) throw std::runtime_error("a server closed the connection");
  parser_.commit(static_cast<std::size_t>(size));
}

wire::Reply* RespConnection::next() {
  if (parser_.next() != wire::Status::ready) return nullptr;
  if (parser_.reply().is_error()) throw std::runtime_error(parser_.reply().text);
  return &parser_.reply();
}

std::vector<std::unique_ptr<Talker>> talkers(const std::vector<std::string>& addresses,
                                             const std::vector<Cycle>& cycles) {
  std::vector<std::unique_ptr<Talker>> all;
  for (std::size_t i = 0; i < cycles.size(); ++i)
    all.push_back(std::make_unique<RespTalker>(addresses[i % addresses.size()], cycles[i]));
  return all;
}

double cycles_per_second(const std::vector<std::string>& addresses,
                         const std::vector<Cycle>& cycles, std::chrono::milliseconds time) {
  return sum(drive(talkers(addresses, cycles), time));
}

std::string command(const std::vector<std::string>& words) {
  std::vector<std::string_view> views(words.begin(), words.end());
  std::string out;
  wire::write_request(out, views);
  return out;
}

std::string ask(const std::string& address, const std::vector<std::string>& words) {
  RespConnection connection(address);
  connection.write(command(words));
  for (;;) {
    pollfd ready{.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 5000) <= 0) throw std::runtime_error(address + " does not answer");
    connection.receive();
    if (const auto* reply = connection.next()) return reply->text;
  }
}

}  // namespace turno::bench

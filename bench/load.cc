#include "load.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <memory>
#include <stdexcept>

#include "net/socket.h"
#include "wire/resp.h"

namespace turno::bench {

namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
  net::Fd socket;
  wire::ReplyParser parser;
  const Cycle* cycle = nullptr;
  std::size_t next = 0;  // request
  std::uint32_t awaited = 0;
  bool begun = false;
};

net::Fd connect(const std::string& address) {
  auto socket = net::connect(address);
  if (!socket) throw std::runtime_error(socket.error());
  pollfd ready{.fd = socket->get(), .events = POLLOUT, .revents = 0};
  ::poll(&ready, 1, 5000);
  if (net::error_of(*socket) != 0) throw std::runtime_error("cannot connect to " + address);
  return std::move(*socket);
}

void write(const Connection& connection, const std::string& bytes) {
  if (::send(connection.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("a server does not read");
}

void ask_next(Connection& connection) {
  const auto& request = connection.cycle->requests[connection.next];
  connection.next = (connection.next + 1) % connection.cycle->requests.size();
  connection.begun = true;
  connection.awaited = request.replies;
  write(connection, request.bytes);
}

// How many cycles were finished by what came in.
std::uint64_t read(Connection& connection) {
  const auto room = connection.parser.prepare(4096);
  const auto size = ::recv(connection.socket.get(), room.data(), room.size(), 0);
  if (size <= 0) throw std::runtime_error("a server closed the connection");
  connection.parser.commit(static_cast<std::size_t>(size));
  std::uint64_t finished = 0;
  while (connection.parser.next() == wire::Status::ready) {
    if (connection.parser.reply().is_error())
      throw std::runtime_error(connection.parser.reply().text);
    if (--connection.awaited > 0) continue;
    if (connection.begun && connection.next == 0) ++finished;
    ask_next(connection);
  }
  return finished;
}

}  // namespace

double cycles_per_second(const std::vector<std::string>& addresses,
                         const std::vector<Cycle>& cycles, std::chrono::milliseconds time) {
  const net::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  std::vector<std::unique_ptr<Connection>> connections;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    auto connection = std::make_unique<Connection>();
    connection->socket = connect(addresses[i % addresses.size()]);
    connection->cycle = &cycles[i];
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, connection->socket.get(), &event);
    connections.push_back(std::move(connection));
  }
  for (auto& connection : connections) {
    if (connection->cycle->before.empty()) {
      ask_next(*connection);
    } else {
      connection->awaited = 1;
      write(*connection, connection->cycle->before);
    }
  }
  const auto begin = Clock::now();
  std::uint64_t finished = 0;
  std::vector<epoll_event> events(64);
  while (Clock::now() < begin + time) {
    const int count = ::epoll_wait(epoll.get(), events.data(), 64, 100);
    for (int i = 0; i < count; ++i)
      finished += read(*static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr));
  }
  return static_cast<double>(finished) /
         std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string command(const std::vector<std::string>& words) {
  std::vector<std::string_view> views(words.begin(), words.end());
  std::string out;
  wire::write_request(out, views);
  return out;
}

std::string ask(const std::string& address, const std::vector<std::string>& words) {
  Connection connection;
  connection.socket = connect(address);
  write(connection, command(words));
  for (;;) {
    pollfd ready{.fd = connection.socket.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 5000) <= 0) throw std::runtime_error(address + " does not answer");
    const auto room = connection.parser.prepare(4096);
    const auto size = ::recv(connection.socket.get(), room.data(), room.size(), 0);
    if (size <= 0) throw std::runtime_error(address + " closed the connection");
    connection.parser.commit(static_cast<std::size_t>(size));
    if (connection.parser.next() == wire::Status::ready) return connection.parser.reply().text;
  }
}

}  // namespace turno::bench

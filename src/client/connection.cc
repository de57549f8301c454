#include "client/connection.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <system_error>
#include <utility>

#include "core/assert.h"
#include "net/socket.h"

namespace turno::client {

namespace {

// The program's signals are for its own threads.
std::thread start_without_signals(auto function) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(function));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// A stopped node lets others connect until its backlog is full, and then leaves them waiting.
bool is_silence(const net::Failure& failure) {
  const auto& words = std::generic_category();
  return failure == words.message(ETIMEDOUT) || failure == words.message(EAGAIN);
}

}  // namespace

tl::expected<net::Address, Error> parse_node_address(std::string_view text) {
  const auto address = net::parse_address(text);
  if (!address) return tl::unexpected(Error{Error::Code::invalid, address.error()});
  if (!address->is_local() && address->port == 0)
    return tl::unexpected(
        Error{Error::Code::invalid, "'" + std::string(text) + "': nobody listens at port 0"});
  return *address;
}

tl::expected<std::unique_ptr<Connection>, Error> Connection::open(const net::Address& address,
                                                                  const Options& options,
                                                                  Events events) {
  auto socket = net::connect_within(address, options.connect_timeout);
  if (!socket)
    return tl::unexpected(
        Error{is_silence(socket.error()) ? Error::Code::timeout : Error::Code::unavailable,
              "no node answers at " + address.text() + " (" + socket.error() +
                  "); is it running, and is the address right?"});
  auto connection = std::make_unique<Connection>(std::move(*socket), address, std::move(events));
  const auto timeout = options.connect_timeout;
  auto hello = options.name.empty()
                   ? connection->call({"HELLO", "3"}, timeout)
                   : connection->call({"HELLO", "3", "SETNAME", options.name}, timeout);
  if (!hello && connection->speaks_http_)
    return tl::unexpected(
        Error{Error::Code::refused, "what listens at " + address.text() +
                                        " speaks HTTP, not RESP: clients have another port, which "
                                        "`turno members` shows"});
  if (!hello)
    return tl::unexpected(
        Error{hello.error().code == Error::Code::disconnected ? Error::Code::unavailable
                                                              : Error::Code::timeout,
              "greeting " + address.text() + ": " + hello.error().message +
                  (hello.error().code == Error::Code::disconnected && !address.is_local()
                       ? "; if that is the port for other nodes, clients have "
                         "another one, which `turno members` shows"
                       : "")});
  if (hello->is_error())
    return tl::unexpected(Error{
        Error::Code::refused,
        "what listens at " + address.text() + " does not greet as a node does: " + hello->text});
  connection->hello_ = std::move(*hello);
  return connection;
}

Connection::Connection(net::Fd socket, net::Address address, Events events)
    : address_(std::move(address)),
      stream_(std::move(socket)),
      events_(std::move(events)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  reader_ = start_without_signals([this] { run(); });
}

Connection::~Connection() {
  TURNO_ASSERT(std::this_thread::get_id() != reader_.get_id());
  end();
  reader_.join();
  ::close(wake_);
}

void Connection::end() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake();
}

void Connection::wake() const {
  const std::uint64_t one = 1;
  // It can only fail when it is already awake.
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

bool Connection::add(const Arguments& arguments, Answer answer) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return false;
  wire::write_request(unsent_, arguments);
  answers_.push_back(std::move(answer));
  return true;
}

void Connection::flush() {
  const std::scoped_lock lock(mutex_);
  if (unsent_.empty() || waiting_to_send_ || closed_) return;
  unsent_.erase(0, stream_.send(unsent_).bytes);
  if (unsent_.empty()) return;
  waiting_to_send_ = true;  // also after an error: the reading thread will meet it
  wake();
}

tl::expected<wire::Reply, Error> Connection::call(const Arguments& arguments,
                                                  std::chrono::milliseconds timeout) {
  struct Call {
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
    bool answered = false;
    wire::Reply reply;
  };
  // Shared: the answer may come when nobody waits for it any more.
  const auto state = std::make_shared<Call>();
  const bool sent = send(arguments, [state](wire::Reply* reply) {
    const std::scoped_lock lock(state->mutex);
    state->done = true;
    state->answered = reply != nullptr;
    if (reply != nullptr) state->reply = std::move(*reply);
    state->ready.notify_one();
    return true;
  });
  std::unique_lock lock(state->mutex);
  if (sent && !state->ready.wait_until(lock, std::chrono::steady_clock::now() + timeout,
                                       [&] { return state->done; }))
    return tl::unexpected(
        Error{Error::Code::unavailable,
              "the node did not answer within " + std::to_string(timeout.count()) + " ms"});
  if (!state->answered)
    return tl::unexpected(
        Error{Error::Code::disconnected, "the connection to " + address_.text() + " ended"});
  return std::move(state->reply);
}

bool Connection::closed() const {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

void Connection::run() {
  const auto reason = read_until_broken();
  std::deque<Answer> answers;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    answers.swap(answers_);
  }
  for (const auto& answer : answers) answer(nullptr);
  events_.closed(reason);
  stream_.shut_down();
}

// The reason why it ended.
std::string Connection::read_until_broken() {
  for (;;) {
    bool wants_to_send = false;
    {
      const std::scoped_lock lock(mutex_);
      if (ending_) return "this program closed it";
      wants_to_send = waiting_to_send_;
    }
    const auto events = static_cast<short>(wants_to_send ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> ready{pollfd{.fd = stream_.descriptor(), .events = events},
                                pollfd{.fd = wake_, .events = POLLIN}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return std::generic_category().message(errno);
    }
    if (ready[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto size = ::read(wake_, &count, sizeof count);
    }
    if ((ready[0].revents & POLLOUT) != 0) {
      const std::scoped_lock lock(mutex_);
      const auto moved = stream_.send(unsent_);
      if (moved.ended) return moved.reason();
      unsent_.erase(0, moved.bytes);
      waiting_to_send_ = !unsent_.empty();
    }
    if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
      if (auto reason = receive(); !reason.empty()) return reason;
  }
}

// Empty, or why the connection cannot go on.
std::string Connection::receive() {
  constexpr std::size_t chunk = std::size_t{16} << 10;
  const auto room = parser_.prepare(chunk);
  const auto moved = stream_.receive(room);
  if (moved.ended) return moved.error == 0 ? "the node closed it" : moved.reason();
  if (std::string_view(room.data(), moved.bytes).starts_with("HTTP/")) speaks_http_ = true;
  parser_.commit(moved.bytes);
  if (moved.bytes > 0) heard_ = Clock::now();
  for (;;) {
    const auto status = parser_.next();
    if (status == wire::Status::more) return {};
    if (status == wire::Status::error) return "the node sent garbage: " + parser_.error();
    auto& reply = parser_.reply();
    bool understood = false;
    if (reply.kind == wire::Reply::Kind::push) {
      understood = events_.push(reply);
    } else {
      Answer answer;
      {
        const std::scoped_lock lock(mutex_);
        if (answers_.empty()) return "the node sent an answer to no question";
        answer = std::move(answers_.front());
        answers_.pop_front();
      }
      understood = answer(&reply);
    }
    if (!understood) return "the node sent an answer that makes no sense";
  }
}

}  // namespace turno::client

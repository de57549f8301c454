// What the tests of the network share.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "net/fd.h"
#include "net/log.h"
#include "net/loop.h"
#include "net/socket.h"

namespace turno::net {

// Long enough for a slow machine and a sanitizer: only a test that fails waits so long.
inline constexpr std::chrono::seconds patience{20};

template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A loop and the thread that runs it.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() { stop(); }

  [[nodiscard]] Loop& loop() { return loop_; }
  // Does it in the loop's thread, and waits for it.
  template <class Work>
  auto run(Work work) -> std::invoke_result_t<Work> {
    const auto task =
        std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
    auto result = task->get_future();
    loop_.post([task] { (*task)(); });
    return result.get();
  }
  void stop() {
    if (!thread_.joinable()) return;
    loop_.stop();
    thread_.join();
  }

 private:
  Loop loop_;
  std::thread thread_;
};

// The lines that are logged while it lives, from the level `info` on. One at a time.
class LoggedLines {
 public:
  LoggedLines() {
    log::set_level(log::Level::info);
    testing::internal::CaptureStderr();
  }
  LoggedLines(const LoggedLines&) = delete;
  LoggedLines& operator=(const LoggedLines&) = delete;
  ~LoggedLines() {
    if (!taken_) (void)take();
  }
  // All so far; no more are collected.
  [[nodiscard]] std::string take() {
    taken_ = true;
    log::set_level(log::Level::warning);
    return testing::internal::GetCapturedStderr();
  }

 private:
  bool taken_ = false;
};

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

// ---- plain blocking sockets: the other side of what is tested

inline void make_blocking(const Fd& socket) {
  const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
}

inline bool wait_for(const Fd& socket, short events,
                     std::chrono::milliseconds time = std::chrono::milliseconds(patience)) {
  pollfd waiting{.fd = socket.get(), .events = events, .revents = 0};
  return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0;
}

inline Fd connect_blocking(const std::string& address) {
  auto socket = connect(address);
  if (!socket) {
    ADD_FAILURE() << socket.error();
    return {};
  }
  if (!wait_for(*socket, POLLOUT) || error_of(*socket) != 0) return {};
  make_blocking(*socket);
  return std::move(*socket);
}

inline Fd accept_blocking(const Fd& listener) {
  if (!wait_for(listener, POLLIN)) return {};
  auto socket = accept(listener);
  if (socket) make_blocking(socket);
  return socket;
}

// False: the other side closed.
inline bool write_all(const Fd& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// What comes, at most so much; nothing if the other side closed.
inline std::string read_some(const Fd& socket, std::size_t most = 65536) {
  std::string bytes(most, '\0');
  const auto count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

inline std::string read_to_end(const Fd& socket) {
  std::string all;
  for (auto bytes = read_some(socket); !bytes.empty(); bytes = read_some(socket)) all += bytes;
  return all;
}

// Closes so that the other side sees a reset.
inline void reset(Fd& socket) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  socket.reset();
}

}  // namespace turno::net

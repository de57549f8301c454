#include "cli/demo/shared_file_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>

#include "cli/cluster/commands.h"
#include "cli/demo/shared_file.h"
#include "core/random.h"
#include "net/fd.h"
#include "turno/turno.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_wait{30'000};

std::string reason() { return std::generic_category().message(errno); }

// Nothing, or what went wrong. The last line is enough.
std::string read_last_value(int file, std::int64_t& value) {
  std::array<char, 512> text{};
  struct stat status {};
  if (::fstat(file, &status) != 0) return reason();
  const auto from = std::max<off_t>(0, status.st_size - static_cast<off_t>(text.size()));
  const auto size = ::pread(file, text.data(), text.size(), from);
  if (size < 0) return reason();
  const auto found = last_value({text.data(), static_cast<std::size_t>(size)});
  if (!found) return "its last line is not what a process writes";
  value = *found;
  return {};
}

// One write at the end of the file: lines may be wrong, but are never torn.
std::string append(int file, const Record& record) {
  const auto line = text_of(record) + "\n";
  const auto size = ::write(file, line.data(), line.size());
  if (size < 0) return reason();
  return static_cast<std::size_t>(size) == line.size() ? "" : "the disk is full";
}

void wait_for_the_others() {
  char byte = 1;
  ::send(STDIN_FILENO, &byte, 1, MSG_NOSIGNAL);
  while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace

int SharedFileProcess::run() const {
  const auto fail = [&](const std::string& what) {
    fmt::print(stderr, "turno: process {}: {}\n", process, what);
    return exit_own_error;
  };
  const net::Fd shared(::open(file.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!shared) return fail(file + ": " + reason());
  std::unique_ptr<Client> client;
  if (!node.empty()) {
    auto connected = Client::connect(node, {.name = fmt::format("process-{}", process)});
    if (!connected) return fail(connected.error().message);
    client = std::move(*connected);
  }
  Random random(seed + process);
  const auto pause = [](std::uint64_t ms) { std::this_thread::sleep_for(milliseconds(ms)); };
  const auto hold = static_cast<std::uint64_t>(hold_ms);
  wait_for_the_others();
  for (std::size_t turn = 1; turn <= operations; ++turn) {
    Grant grant;
    if (client) {
      auto granted = client->acquire(lock, {.timeout = longest_wait});
      if (!granted) return fail(granted.error().message);
      grant = std::move(*granted);
    }
    Record record{.process = process, .turn = turn, .fence = grant.fence()};
    auto what = read_last_value(shared.get(), record.read);
    // Who takes no turns may see a line that another one is just writing: it looks again.
    for (int again = 0; !what.empty() && !client && again < 100; ++again) {
      pause(1);
      what = read_last_value(shared.get(), record.read);
    }
    if (!what.empty()) return fail(file + ": " + what);
    pause(hold);
    record.result = operation_of(process).apply(record.read);
    if (grant.lost()) return fail("the lock was lost before the result was written");
    what = append(shared.get(), record);
    if (!what.empty()) return fail(file + ": " + what);
    grant.release();
    pause(random.below(hold + 1));
  }
  return 0;
}

}  // namespace turno::cli

// turno ui: look at a trace in a browser.
#include <fmt/core.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cli/ui/page.h"
#include "cli/ui/page_server.h"
#include "cli/ui/show.h"
#include "core/usage_error.h"
#include "net/loop.h"
#include "net/socket.h"
#include "port/http/http.h"
#include "port/secret.h"

namespace turno::cli {

namespace {

// The first signal that ends a program ends the loop.
class UntilInterrupted final : public net::Loop::Watcher {
 public:
  explicit UntilInterrupted(net::Loop& loop) : loop_(loop) {
    ::sigemptyset(&ends_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends_, number);
    ::sigprocmask(SIG_BLOCK, &ends_, &before_);
    fd_.reset(::signalfd(-1, &ends_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) throw std::runtime_error(std::string("signalfd: ") + std::strerror(errno));
    loop_.watch(fd_.get(), EPOLLIN, *this);
  }
  UntilInterrupted(const UntilInterrupted&) = delete;
  UntilInterrupted& operator=(const UntilInterrupted&) = delete;
  ~UntilInterrupted() {
    loop_.forget(fd_.get(), *this);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  void ready(std::uint32_t) override {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) == sizeof info) loop_.stop();
  }

  net::Loop& loop_;
  net::Fd fd_;
  sigset_t ends_{}, before_{};
};

// Only where somebody could see it.
void open_browser(std::string address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  std::string program = "xdg-open";
  char* const words[] = {program.data(), address.data(), nullptr};
  // It gets the signals that this program has blocked.
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  sigset_t none{};
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  // If there is none, the address is printed all the same.
  ::posix_spawnp(&child, program.c_str(), nullptr, &attributes, words, environ);
  ::posix_spawnattr_destroy(&attributes);
}

}  // namespace

int show_page(const std::string& path, std::uint16_t port) {
  if (page().html.empty()) {
    std::fprintf(stderr,
                 "turno: this program was built without its page. 'make web' builds the page (with "
                 "npm) and puts it into the programs.\n");
    return exit_own_error;
  }
  std::optional<ServedFile> file;
  if (!path.empty()) {
    auto opened = ServedFile::open(path);
    if (!opened) throw std::runtime_error(opened.error());
    file = std::move(*opened);
  }
  net::Loop loop;
  const UntilInterrupted until(loop);
  auto socket = net::listen(fmt::format("127.0.0.1:{}", port));
  if (!socket) throw std::runtime_error(socket.error());
  const auto listening = net::address_of(*socket);
  const PageSite site(port::random_secret(), file ? &*file : nullptr);
  const port::Http http(loop, std::move(*socket),
                        [&](const auto& request, const auto& done) { done(site.answer(request)); });
  const auto address = fmt::format("http://{}/{}/", listening, site.token());
  fmt::print("{}\n", address);
  std::fflush(stdout);
  if (::isatty(STDERR_FILENO) != 0)
    std::fprintf(stderr, "Open it in a browser of this machine. Ctrl-C ends it.\n");
  open_browser(address);
  loop.run();
  return 0;
}

void add_ui(Command app, Job& job) {
  auto command = app.add_subcommand("ui", "Look at a trace in a browser");
  struct Request {
    std::string file;
    std::uint32_t port = 0;
  };
  auto request = std::make_shared<Request>();
  command.add_option("FILE", request->file,
                     "A trace, as --trace writes it (default: drop one on the page)");
  command.add_option("--port", request->port, "Listen there, on loopback (default: any free one)");
  command.footer(
      "\nPrints an address with a token for a browser of this machine, and serves the page and "
      "this\n"
      "file, and nothing else, until Ctrl-C. 'turno sim|run|check ... --open' does the same with "
      "what\nthey have just found.\n"
      "\nExamples:\n"
      "  turno sim nxr --nodes 7 --entries 100 --trace run.jsonl && turno ui run.jsonl\n"
      "  turno check nxr --as-published kept-on-exit --nodes 2 --requests 2 --open\n");
  command.callback([&job, request] {
    if (request->port > 65535) throw UsageError("--port is 0 to 65535");
    job = [request] { return show_page(request->file, static_cast<std::uint16_t>(request->port)); };
  });
}

}  // namespace turno::cli

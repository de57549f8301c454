// A cluster inside a test: real servers with real sockets, each in a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/testing.h"
#include "node/server.h"
#include "registry/registry_testing.h"

namespace turno::node {

using namespace table;
using namespace port;

class RunningServer {
 public:
  // Fails the test if it cannot start.
  explicit RunningServer(const Settings& settings) {
    auto server = Server::start(settings);
    if (!server) throw std::runtime_error(server.error());
    server_ = std::move(*server);
    thread_ = std::thread([this] { run(); });
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() { stop(); }

  [[nodiscard]] Daemon& daemon() { return server_->daemon(); }
  [[nodiscard]] LockTable& locks() { return daemon().locks(); }
  // In the loop's thread.
  [[nodiscard]] const DeadlockWatch& deadlocks() { return server_->clients().deadlocks(); }
  [[nodiscard]] const cluster::Member& self() { return daemon().self(); }

  // In the loop's thread; waits for it.
  template <class Work>
  auto run(Work work) -> std::invoke_result_t<Work> {
    const auto task =
        std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
    auto result = task->get_future();
    daemon().loop().post([task] { (*task)(); });
    return result.get();
  }
  [[nodiscard]] std::size_t members() {
    return run([this] { return daemon().view().size(); });
  }
  [[nodiscard]] std::uint32_t epoch() {
    return run([this] { return daemon().view().epoch; });
  }
  [[nodiscard]] std::size_t clients() {
    return run([this] { return server_->clients().size(); });
  }

  // What all members say.
  [[nodiscard]] Findings ask(const std::string& lock) {
    const auto answer = std::make_shared<std::promise<Findings>>();
    run([&] {
      daemon().ask(lock, [answer](Findings findings) { answer->set_value(std::move(findings)); });
    });
    return answer->get_future().get();
  }

  // Leaves the cluster.
  void stop() {
    if (!thread_.joinable()) return;
    daemon().stop();
    thread_.join();
  }
  // Is gone from one moment to the next, and the kernel tells the others.
  void crash() {
    crashed_ = true;
    stop();
    server_.reset();
  }
  // Until it ends by itself. Why.
  std::string wait() {
    thread_.join();
    return failure_;
  }

 private:
  void run() {
    daemon().run();
    if (!crashed_) failure_ = server_->run();  // the loop has stopped: it only says goodbye
  }

  std::unique_ptr<Server> server_;
  std::atomic<bool> crashed_{false};
  std::string failure_;
  std::thread thread_;
};

// A node that does not answer, as if its process were stopped.
class Stopped {
 public:
  explicit Stopped(RunningServer& server) {
    server.daemon().loop().post([go = go_on_.get_future().share()] { go.wait(); });
  }
  ~Stopped() { go_on_.set_value(); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  std::promise<void> go_on_;
};

class TestCluster {
 public:
  using Change = std::function<void(Settings&)>;

  explicit TestCluster(
      std::size_t size, Change change = [](Settings&) {})
      : change_(std::move(change)) {
    for (std::size_t i = 0; i < size; ++i) add();
    settle();
  }

  RunningServer& add() {
    servers_.push_back(std::make_unique<RunningServer>(settings(servers_.size() + 1)));
    return *servers_.back();
  }
  // Waits until all servers have met.
  void settle() {
    EXPECT_TRUE(net::eventually([&] {
      for (auto& server : servers_)
        if (server && (server->members() != alive() || !server->locks().ready())) return false;
      return true;
    }));
  }
  void crash(std::size_t i) {
    servers_[i]->crash();
    servers_[i].reset();
  }
  void stop(std::size_t i) { servers_[i].reset(); }

  [[nodiscard]] Settings settings(std::size_t number) const {
    Settings settings;
    settings.directory = directory_.path() / "cluster";
    settings.name = "n" + std::to_string(number);
    settings.client_address = "127.0.0.1:0";
    settings.client_socket = (settings.directory / (settings.name + ".sock")).string();
    settings.lock_delay = std::chrono::milliseconds(100);
    change_(settings);
    return settings;
  }
  [[nodiscard]] RunningServer& operator[](std::size_t i) { return *servers_[i]; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  // A lock that has its home with this server.
  [[nodiscard]] std::string lock_at_home(std::size_t i) {
    const auto view = servers_[i]->run([&] { return servers_[i]->daemon().view(); });
    for (int n = 0;; ++n) {
      auto name = "lock-" + std::to_string(n);
      if (view.members[cluster::home_of(name, view).index()].id == servers_[i]->self().id)
        return name;
    }
  }

 private:
  [[nodiscard]] std::size_t alive() const {
    std::size_t count = 0;
    for (const auto& server : servers_) count += server ? 1 : 0;
    return count;
  }

  const Change change_;
  registry::TemporaryDirectory directory_;
  std::vector<std::unique_ptr<RunningServer>> servers_;
};

// Somebody who asks for locks and notes what becomes of it.
class Asker final : public Waiter {
 public:
  explicit Asker(std::uint64_t session = 1, std::string name = "asker")
      : Waiter(self_), self_{session, std::move(name)} {}
  void settled(Afterwards&) override { ++settled_; }

  [[nodiscard]] const Owner& self() const { return self_; }
  [[nodiscard]] int times_settled() const { return settled_; }
  // For those who watch from another thread than the one that settles it.
  [[nodiscard]] bool is_settled() const { return settled_ > 0; }

 private:
  Owner self_;
  std::atomic<int> settled_{0};
};

}  // namespace turno::node

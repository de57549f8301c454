// Clients of a real cluster whose nodes crash.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "node/cluster_testing.h"
#include "port/findings.h"
#include "turno/turno.h"

namespace turno {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<Client> client_of(const std::vector<std::string>& addresses) {
  auto made = Client::connect(addresses, {});
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

// The nodes where somebody waits.
std::vector<std::string> waiters_of(const std::string& lock, node::RunningServer& asked) {
  std::vector<std::string> nodes;
  const auto findings = asked.ask(lock);
  for (const auto* waiter : port::put_in_order(findings.found).waiters)
    nodes.push_back(waiter->node);
  return nodes;
}

TEST(ClientsOfACluster, WaitAtAnotherNodeWhenTheirsCrashes) {
  node::TestCluster cluster(3);
  const auto holder = client_of({cluster[2].self().client_socket});
  auto grant = holder->acquire("gate");
  ASSERT_TRUE(grant);
  const auto client = client_of({cluster[0].self().client_socket});
  auto waiting = std::async(std::launch::async, [&] { return client->acquire("gate"); });
  EXPECT_TRUE(net::eventually([&] { return waiters_of("gate", cluster[2]).size() == 1; }));
  cluster.crash(0);
  // Its new place is at one of the others.
  EXPECT_TRUE(net::eventually([&] {
    const auto waiters = waiters_of("gate", cluster[2]);
    return waiters.size() == 1 && waiters[0] != "n1";
  }));
  const auto fence = grant->fence();
  grant->release();
  const auto got = waiting.get();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_GT(got->fence(), fence);
  EXPECT_NE(client->identity().node, "n1");
  EXPECT_EQ(client->identity().lock_delay, milliseconds(100));
}

TEST(ClientsOfACluster, WaitOnThoughAllNodesAreReplaced) {
  node::TestCluster cluster(2);
  const auto client = client_of({cluster[0].self().client_socket});
  const auto holder = client_of({cluster[0].self().client_socket});
  auto grant = holder->acquire("gate");
  ASSERT_TRUE(grant);
  auto waiting = std::async(std::launch::async, [&] { return client->acquire("gate"); });
  EXPECT_TRUE(net::eventually([&] { return waiters_of("gate", cluster[1]).size() == 1; }));
  cluster.add();
  cluster.settle();
  cluster.crash(1);
  cluster.crash(0);
  const auto got = waiting.get();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_GT(got->fence(), grant->fence());
  EXPECT_EQ(client->identity().node, "n3");
}

// That they exclude each other is judged with real processes (torture/, cli/cluster): a server that
// crashes inside a test still says goodbye.
TEST(ClientsOfACluster, GetNoErrorsWhileNodesComeAndGo) {
  node::TestCluster cluster(3);
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < 3; ++i) addresses.push_back(cluster[i].self().client_socket);
  std::atomic<int> entries = 0;
  std::atomic<bool> ending = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      const auto client = client_of(addresses);
      while (!ending) {
        const auto grant = client->acquire("gate");
        ASSERT_TRUE(grant) << grant.error().message;
        ++entries;
      }
    });
  const auto goes_on = [&] {
    const auto so_far = entries.load();
    return net::eventually([&] { return entries > so_far + 50; });
  };
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(goes_on());
    cluster.add();
    cluster.crash(i);
  }
  EXPECT_TRUE(goes_on());
  ending = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace turno

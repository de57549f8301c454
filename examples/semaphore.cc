// A few at once, across processes: three permits, each with a number that can stand for a thing.
// Run it several times at once:
//
//   semaphore 127.0.0.1:7400
#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

#include "turno/turno.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) {
    std::cerr << "usage: semaphore ADDRESS    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  const auto client = turno::Client::connect(argv[1], {.name = "example-semaphore"});
  if (!client) {
    std::cerr << "semaphore: " << client.error().message << "\n";
    return 1;
  }
  turno::Semaphore cards(**client, "cards", 3);

  // Four threads want one of three.
  std::atomic<bool> failed = false;
  std::vector<std::jthread> threads;
  for (int i = 1; i <= 4; ++i)
    threads.emplace_back([&cards, &failed, i] {
      const auto grant = cards.acquire({.timeout = 10s});
      std::ostringstream line;
      if (grant) {
        line << "thread " << i << " has card " << grant->permits().front() << " under fence "
             << grant->fence() << "\n";
      } else {
        failed = true;
        line << "thread " << i << ": " << grant.error().message << "\n";
      }
      std::cout << line.str() << std::flush;
      std::this_thread::sleep_for(50ms);
    });
  threads.clear();

  // Two together or none; and the face of std::counting_semaphore.
  const auto two = cards.acquire({.timeout = 10s, .permits = 2});
  if (failed || !two || two->permits().size() != 2) {
    std::cerr << "semaphore: " << (two ? "not all got a card" : two.error().message) << "\n";
    return 1;
  }
  std::cout << "cards " << two->permits()[0] << " and " << two->permits()[1] << "\n";
  try {
    cards.acquire();
    cards.release();
  } catch (const std::exception& error) {
    std::cerr << "semaphore: " << error.what() << "\n";
    return 1;
  }
  return 0;
}

// A lock across processes that is used like a std::mutex. Run it several times at once:
//
//   mutex 127.0.0.1:7400
#include <chrono>
#include <exception>
#include <iostream>
#include <mutex>
#include <thread>

#include "turno/turno.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: mutex ADDRESS    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  const auto client = turno::Client::connect(argv[1], {.name = "example-mutex"});
  if (!client) {
    std::cerr << "mutex: " << client.error().message << "\n";
    return 1;
  }
  try {
    turno::Mutex source(**client, "account-1"), target(**client, "account-2");
    for (int turn = 1; turn <= 3; ++turn) {
      // Both or none, without deadlock, whatever order others choose.
      const std::scoped_lock both(source, target);
      std::cout << "turn " << turn << ": inside, fences " << source.fence() << " and "
                << target.fence() << std::endl;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  } catch (const std::exception& error) {
    std::cerr << "mutex: " << error.what() << "\n";
    return 1;
  }
  return 0;
}

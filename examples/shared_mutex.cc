// A lock for readers and writers across processes, used like a std::shared_mutex:
//
//   shared_mutex 127.0.0.1:7400
#include <chrono>
#include <exception>
#include <iostream>
#include <mutex>
#include <shared_mutex>

#include "turno/turno.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) {
    std::cerr << "usage: shared_mutex ADDRESS    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  // Two sessions, as two programs would be.
  const auto one = turno::Client::connect(argv[1], {.name = "example-reader"});
  const auto other = turno::Client::connect(argv[1], {.name = "example-writer"});
  if (!one || !other) {
    std::cerr << "shared_mutex: " << (one ? other : one).error().message << "\n";
    return 1;
  }
  try {
    turno::SharedMutex mine(**one, "book"), theirs(**other, "book");
    {
      const std::shared_lock reader(mine), another(theirs);
      std::cout << "two read" << std::endl;
    }
    const std::unique_lock writer(mine);
    std::cout << "one writes" << std::endl;
    if (theirs.try_lock_shared_for(100ms)) {
      std::cerr << "shared_mutex: somebody reads what is being written\n";
      return 1;
    }
    std::cout << "nobody reads meanwhile" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "shared_mutex: " << error.what() << "\n";
    return 1;
  }
  return 0;
}

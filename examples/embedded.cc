// A node inside this program: embedded DIRECTORY
//
// Start it several times at once with the same directory: the programs form a cluster, and only one
// at a time is inside.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "turno/turno.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embedded DIRECTORY\n");
    return 64;
  }
  const auto node = turno::Node::start({.directory = argv[1]});
  if (!node) {
    std::fprintf(stderr, "embedded: %s\n", node.error().message.c_str());
    return 1;
  }
  turno::Mutex mutex(**node, "example");
  for (int i = 0; i < 3; ++i) {
    const std::scoped_lock guard(mutex);
    std::printf("%s is inside, fence %llu\n", (*node)->name().c_str(),
                static_cast<unsigned long long>(mutex.fence()));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

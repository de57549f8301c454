// A room: those of one group are inside together, those of another wait until all have left. Run it
// several times at once, with different groups:
//
//   room 127.0.0.1:7400 GROUP
#include <chrono>
#include <iostream>
#include <thread>

#include "turno/turno.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 3) {
    std::cerr << "usage: room ADDRESS GROUP    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  const std::string group = argv[2];
  const auto client = turno::Client::connect(argv[1], {.name = "example-room"});
  if (!client) {
    std::cerr << "room: " << client.error().message << "\n";
    return 1;
  }
  turno::Room hall(**client, "hall");
  auto first = hall.acquire({.timeout = 10s, .group = group});
  auto second = hall.acquire({.timeout = 10s, .group = group});  // the same group: at once
  for (const auto* visit : {&first, &second})
    if (!*visit) {
      std::cerr << "room: " << visit->error().message << "\n";
      return 1;
    }
  std::cout << group + ": inside twice, under fence " + std::to_string(first->fence()) + "\n"
            << std::flush;
  std::this_thread::sleep_for(50ms);
  second->release();
  return first->lost() ? 1 : 0;
}

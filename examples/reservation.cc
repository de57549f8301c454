// Several resources at once: two of four GPUs and a licence, or nothing.
//
//   reservation 127.0.0.1:7400
#include <chrono>
#include <iostream>

#include "turno/turno.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) {
    std::cerr << "usage: reservation ADDRESS    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  const auto client = turno::Client::connect(argv[1], {.name = "example-reservation"});
  if (!client) {
    std::cerr << client.error().message << "\n";
    return 1;
  }
  turno::Reservation job(**client,
                         {{.type = "gpu", .count = 2, .of = 4}, {.type = "licence", .of = 1}});
  const auto grant = job.acquire({.timeout = 5s});
  if (!grant) {
    std::cerr << grant.error().message << "\n";
    return 1;
  }
  for (const auto& [type, number, fence] : grant->resources())
    std::cout << type << " " << number << " under fence " << fence << "\n";
  return grant->resources().size() == 3 ? 0 : 1;
}

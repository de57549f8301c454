// A leader among several processes, and who looks on. Run it several times at once:
//
//   election 127.0.0.1:7400 NAME
#include <chrono>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

#include "turno/turno.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: election ADDRESS NAME    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  const std::string me = argv[2];
  const auto client = turno::Client::connect(argv[1], {.name = "example-election"});
  if (!client) {
    std::cerr << "election: " << client.error().message << "\n";
    return 1;
  }
  turno::Election election(**client, "example");
  const auto observed = election.observe([&](const std::optional<turno::Leader>& leader) {
    std::ostringstream line;
    line << me << ": " << (leader ? leader->value + " leads" : "nobody leads") << "\n";
    std::cout << line.str() << std::flush;
  });
  const auto leadership = election.campaign(me, {.timeout = std::chrono::seconds(30)});
  if (!observed || !leadership) {
    std::cerr << "election: " << (observed ? leadership.error() : observed.error()).message << "\n";
    return 1;
  }
  // A resource that remembers the largest term refuses who does not know yet that it leads no more.
  std::cout << me + ": I lead, term " + std::to_string(leadership->fence()) + "\n" << std::flush;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return leadership->lost() ? 1 : 0;
}

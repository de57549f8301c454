// Waiting in bounded time, being stopped from outside, ending with the lock, and a resource that
// refuses a holder who is late.
//
//   fenced 127.0.0.1:7400
#include <chrono>
#include <cstdint>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>

#include "turno/turno.h"

namespace {

using namespace std::chrono_literals;

// It remembers the largest fence. Whoever comes with a smaller one lost the lock without knowing
// it.
class Ledger {
 public:
  bool write(std::uint64_t fence, const std::string& line) {
    if (fence < largest_) return false;
    largest_ = fence;
    std::cout << "written under fence " << fence << ": " << line << std::endl;
    return true;
  }

 private:
  std::uint64_t largest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fenced ADDRESS    (HOST:PORT or unix:PATH of a node)\n";
    return 64;
  }
  const auto client = turno::Client::connect(argv[1], {.name = "example-fenced"});
  if (!client) {
    std::cerr << "fenced: " << client.error().message << "\n";
    return 1;
  }
  Ledger ledger;
  std::stop_source quit;  // a program would request it when it is asked to end

  auto grant = (*client)->acquire("ledger", {.timeout = 5s, .ttl = 10s}, quit.get_token());
  if (!grant) {
    std::cerr << "fenced: " << grant.error().message << "\n";
    return grant.error().code == turno::Error::Code::timeout ? 124 : 1;
  }
  const auto lost = grant->lost_token();
  for (int line = 1; line <= 3 && !lost.stop_requested(); ++line) {
    ledger.write(grant->fence(), "line " + std::to_string(line));
    std::this_thread::sleep_for(20ms);
    if (const auto renewed = grant->renew(10s); !renewed) break;
  }
  const auto old_fence = grant->fence();
  grant->release();  // or let it go out of scope

  grant = (*client)->acquire("ledger", {.timeout = 5s});
  if (!grant) return 1;
  ledger.write(grant->fence(), "of the next holder");
  if (!ledger.write(old_fence, "too late")) std::cout << "fence " << old_fence << " is refused\n";
  return 0;
}

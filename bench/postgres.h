// PostgreSQL's advisory locks as semaphores: a permit is one lock of k.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "driver.h"
#include "servers.h"

namespace turno::bench {

class Postgres {
 public:
  // Its server refuses to run as root, and is started as the user postgres then.
  explicit Postgres(const std::filesystem::path& directory);

  // One connection that takes and gives back a permit of a semaphore over and over. One that finds
  // none free tries again after `pause`: waiting for several locks at once is not possible.
  [[nodiscard]] std::unique_ptr<Talker> talker(int semaphore, int permits,
                                               std::chrono::milliseconds pause) const;

 private:
  int port_;
  Program program_;
};

}  // namespace turno::bench

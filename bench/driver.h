// As many clients as wanted in one thread, each of which does something over and over on a
// connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace turno::bench {

class Talker {
 public:
  struct Progress {
    std::uint64_t finished = 0;                      // cycles
    std::optional<std::chrono::milliseconds> pause;  // then go_on() is called
  };

  virtual ~Talker() = default;
  [[nodiscard]] virtual int descriptor() const = 0;
  // Writes the first request.
  virtual void begin() = 0;
  // Reads what has come, and writes what follows.
  virtual Progress read() = 0;
  virtual void go_on() {}
};

// For so long, or until `goes_on`, which is asked every 10 ms at least, says no: the cycles that
// each finished in a second.
std::vector<double> drive(const std::vector<std::unique_ptr<Talker>>& talkers,
                          std::chrono::milliseconds time,
                          const std::function<bool()>& goes_on = {});
double sum(const std::vector<double>& rates);

}  // namespace turno::bench

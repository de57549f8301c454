// A command that runs while something is held: what it is, and how.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/job.h"

namespace turno::cli {

// What a command can run under.
enum class Kind : std::uint8_t { lock, semaphore, election, room, store };
inline constexpr std::array<std::string_view, 5> kind_names = {"lock", "semaphore", "election",
                                                               "room", "store"};
inline constexpr std::array<std::string_view, 5> kind_words = {"lock", "semaphore", "elect", "room",
                                                               "reserve"};

struct HoldOptions {
  std::string name;
  Kind kind = Kind::lock;
  std::string value;                      // of a leader
  std::string group;                      // of a room
  std::optional<std::uint32_t> capacity;  // of that group
  std::string resources;                  // of a store: those that are wanted, "gpu:2/8,licence"
  std::optional<std::uint32_t> permits;   // that a semaphore has
  std::uint32_t count = 1;                // of them that are wanted
  std::string timeout, ttl, kill_after;   // empty: none
  std::vector<std::string> nodes;
  std::string directory;
  std::uint32_t conflict_status = exit_timeout;
  bool nonblock = false, quiet = false, verbose = false, system = false;

  // "lock 'L'"
  [[nodiscard]] std::string thing() const {
    return (kind == Kind::store ? resources + " of " : "") + std::string(kind_name()) + " '" +
           name + "'";
  }
  [[nodiscard]] std::string_view kind_name() const {
    return kind_names.at(static_cast<std::size_t>(kind));
  }
  [[nodiscard]] std::string_view word() const {
    return kind_words.at(static_cast<std::size_t>(kind));
  }
  // Several may have some of it, or be inside, at once.
  [[nodiscard]] bool many() const {
    return kind == Kind::semaphore || kind == Kind::room || kind == Kind::store;
  }
  // "a lock"
  [[nodiscard]] std::string some() const {
    return (kind == Kind::election ? "an " : "a ") + std::string(kind_name());
  }
};

// Its exit status, or why it did not run: turno lock --help.
int run_while_holding(HoldOptions options, const std::vector<std::string>& command);

}  // namespace turno::cli

// What the tests of the registry share.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "cluster/view.h"
#include "registry/registry.h"

namespace turno::registry {

// A directory that is removed at the end. In memory if possible: on a busy disk the registry's
// syncs would take most of the time of its tests.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const std::filesystem::path memory = "/dev/shm";
    const auto parent =
        ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    auto name = (parent / "turno-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Member member_named(std::string name) {
  return {.id = cluster::random_id(), .name = std::move(name), .peer_address = "127.0.0.1:1"};
}

inline Settings running(std::string algorithm) {
  return {.algorithm = std::move(algorithm), .lock_delay_ms = 250, .idle_ms = 1000};
}

// "a b c @ 7": the members and the epoch; or "kind: message".
inline std::string summary(const Expected<View>& view) {
  if (!view) {
    constexpr const char* kinds[] = {"absent", "refused", "unavailable", "damaged", "lost"};
    return std::string(kinds[static_cast<int>(view.error().kind)]) + ": " + view.error().message;
  }
  std::string text;
  for (const auto& member : view->members) text += member.name + " ";
  return text + "@ " + std::to_string(view->epoch) + (view->crashed ? " crashed" : "");
}

}  // namespace turno::registry

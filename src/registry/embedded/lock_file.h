// A file that a process holds locked for as long as it lives. The kernel drops the lock at the
// process's death, however it dies, so on one machine "the lock is free" is a proof of death.
#pragma once

#include <cstdint>
#include <filesystem>

#include "registry/registry.h"

namespace turno::registry {

// Not copied, not moved. Locks of one process exclude each other too (they belong to the open
// file).
//
// Invariant: a file under its final name was locked before it got that name, so nobody sees a live
// owner's file unlocked.
//
// A child made by fork() without exec() would keep the lock after its parent's death, so children
// close it (pthread_atfork). What makes a process behind the C library's back is not covered.
class LockFile {
 public:
  LockFile() = default;
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile() { release(); }

  // Creates and locks the file, in place of one that may be there. REQUIRES: nothing is held.
  Expected<void> create(const std::filesystem::path& path);

  // Whether the file still stands under its name: somebody may have tidied up.
  [[nodiscard]] bool in_place() const;

  // Gives the lock up. The file stays.
  void release();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  friend struct HeldLockFiles;

  std::filesystem::path path_;
  int descriptor_ = -1;
  LockFile* next_ = nullptr;  // in the list of those held by this process
  LockFile* previous_ = nullptr;
};

enum class LockState : std::uint8_t {
  held,
  free,     // there is a file, and nobody holds it
  missing,  // there is no file
  unknown,  // it cannot be looked at
};

// Looks without taking the lock: two who look at once do not deceive each other.
[[nodiscard]] LockState look_at_lock(const std::filesystem::path& path);

}  // namespace turno::registry

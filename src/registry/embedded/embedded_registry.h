// The registry of the nodes of one machine: a directory that they share.
//
//   registry.db        the view (SQLite, rollback journal, synchronous)
//   members/ID.lock    held locked by the process of that member
//
// A member is dead if its lock is free. Every change of the view is one transaction that reads the
// view, looks at every member's lock and writes the next epoch; epochs grow as long as the
// directory lives. The lock file of a dead member is removed after the commit, and files that
// belong to no member (of those who died while joining) are swept inside the next transaction.
//
// The directory must belong to the user whose process this is, and nobody else may write into it.
//
// If a lock file is missing, somebody tidied up. Its owner puts it back at its next call; until
// then the member counts as alive, unless its process is gone.
//
// The registry may be emptied or restored in place. Its members then give up, since others may be
// granted their locks. Nobody joins while one who is not in it still holds a lock file: that one
// belongs to the view that was lost, and has not noticed yet.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "registry/embedded/database.h"
#include "registry/embedded/lock_file.h"
#include "registry/embedded/member_files.h"
#include "registry/embedded/view_table.h"
#include "registry/registry.h"
#include "registry/succession.h"

namespace turno::registry {

class EmbeddedRegistry final : public Registry {
 public:
  // Touches nothing yet. join() makes the directory; the others only look for it.
  explicit EmbeddedRegistry(const std::filesystem::path& directory, WallClock clock = system_clock);
  ~EmbeddedRegistry() override;

  // Notes the pid of this process in the member.
  Expected<View> join(const Member& self, const Settings& wanted) override;
  Expected<void> leave() override;
  Expected<View> current() override;
  Expected<View> reconsider(bool bump) override;
  bool is_dead(std::uint64_t id) override;

 private:
  struct FileState {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, changed_ns = 0;
    // The last change is more than a tick of the kernel's clock ago, so the next one will have
    // another time.
    bool settled = false;

    [[nodiscard]] bool same_file(const FileState& other) const {
      return device == other.device && inode == other.inode;
    }
    bool operator==(const FileState&) const = default;
  };
  // Edits the next view, from which the dead are already gone. True: it is to be written in any
  // case.
  using Edit = std::function<Expected<bool>(StoredView& next)>;

  Expected<void> make_directory();
  // Also finds out whether the file is still the one that was opened.
  Expected<FileState> open();
  void close();
  Expected<void> mend_lock_file();
  Expected<View> change(bool create, const Edit& edit);
  // An error also if this is no longer the registry that this node joined.
  Expected<StoredView> load();
  Expected<View> read();
  void remember(const StoredView& stored, std::int64_t version);
  [[nodiscard]] std::optional<FileState> look_at_database() const;
  [[nodiscard]] bool forked() const;

  const std::filesystem::path directory_;
  const std::filesystem::path database_file_;
  const MemberFiles files_;
  const pid_t process_;
  const WallClock clock_;

  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Database> database_;
  FileState opened_;  // of the open database, when it was opened
  std::optional<StoredView> seen_;
  std::int64_t seen_version_ = 0;  // SQLite's count of the changes by others, when it was seen
  // The file as it was when it was seen. While it stays so, current() needs no lock of the
  // database; a process stopped while it holds one would keep the others from changing the view.
  std::optional<FileState> seen_state_;
  std::optional<std::uint64_t> self_;
  std::uint64_t key_ = 0;     // of the cluster, once joined
  std::uint32_t newest_ = 0;  // epoch seen since then
  std::unique_ptr<LockFile> lock_;
};

}  // namespace turno::registry

#include "registry/embedded/member_files.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <system_error>

namespace turno::registry {

namespace fs = std::filesystem;

namespace {

// The member to whom a file belongs, or 0 if it is none of ours.
std::uint64_t owner_of(std::string_view file) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), id);
  if (error != std::errc()) return 0;
  const auto rest = file.substr(static_cast<std::size_t>(end - file.data()));
  return rest == ".lock" || rest == ".lock.new" ? id : 0;
}

bool process_is_gone(const std::string& space, std::int64_t pid) {
  if (space.empty() || space != process_space()) return false;
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string process_space() {
  std::array<char, 64> text{};
  const auto size = ::readlink("/proc/self/ns/pid", text.data(), text.size());
  return {text.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

fs::path MemberFiles::path_of(std::uint64_t id) const {
  return directory_ / fmt::format("{}.lock", id);
}

bool MemberFiles::certainly_dead(const StoredView& stored, std::size_t index) const {
  const auto& member = stored.view.members[index];
  switch (look_at_lock(path_of(member.id))) {
    case LockState::free:
      return true;
    case LockState::missing:
      return process_is_gone(stored.process_spaces[index], member.pid);
    case LockState::held:
    case LockState::unknown:
      break;
  }
  return false;
}

void MemberFiles::remove(std::uint64_t id) const {
  std::error_code ignored;  // a file that stays is swept later
  fs::remove(path_of(id), ignored);
}

std::vector<fs::path> MemberFiles::strangers(const View& view, LockState state) const {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator file(directory_, error), end; !error && file != end;
       file.increment(error)) {
    const auto id = owner_of(file->path().filename().native());
    if (id == 0 || view.find(id) != nullptr) continue;
    if (look_at_lock(file->path()) == state) found.push_back(file->path());
  }
  return found;
}

void MemberFiles::sweep(const View& view) const {
  std::error_code ignored;
  for (const auto& file : strangers(view, LockState::free)) fs::remove(file, ignored);
}

bool MemberFiles::any_stranger(const View& view) const {
  return !strangers(view, LockState::held).empty();
}

}  // namespace turno::registry

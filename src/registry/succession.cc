#include "registry/succession.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <utility>

#include "core/fence.h"

namespace turno::registry {

namespace {

constexpr std::int64_t year_2024_ms = 1'704'067'200'000;  // after 1970
// A clock that is wrong by decades must not use up all fences: four years of them are kept for
// views that follow each other.
constexpr std::uint64_t latest_start = Fence::last_epoch - (std::uint64_t{1} << 31);

tl::unexpected<Error> refusal(std::string message) {
  return tl::unexpected(Error{Error::Kind::refused, std::move(message)});
}

}  // namespace

std::int64_t system_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::uint64_t fence_epoch_at(std::int64_t unix_ms) {
  const auto since = std::max<std::int64_t>(unix_ms - year_2024_ms, 0);
  return static_cast<std::uint64_t>(since / 1000 * 16 + since % 1000 * 16 / 1000);
}

Expected<void> number(const View& view, bool founded, std::int64_t unix_ms, View& next) {
  const auto is_last = [&] {
    return refusal(
        fmt::format("view {} was the last one, and fences must not go back: use another registry, "
                    "for locks of other resources",
                    view.epoch));
  };
  if (view.epoch >= epoch_limit) return is_last();
  next.epoch = view.epoch + 1;
  const auto begin = founded ? fence_epoch_at(unix_ms) : 0;
  if (begin > next.fences_from + next.epoch) {
    if (begin > latest_start) {
      return refusal(
          "the clock of this machine is wrong (it says that it is after 2087): fences begin with "
          "it, and would soon come to their end. Set it, and start the node again");
    }
    next.fences_from = begin - next.epoch;
  }
  if (next.fences_from + next.epoch > Fence::last_epoch) return is_last();
  return {};
}

void note_casualties(const std::vector<Member>& dead, std::int64_t unix_ms, View& next) {
  next.crashed = !dead.empty();
  if (!next.crashed) return;
  next.last_crash = next.epoch;
  auto& all = next.casualties;
  for (const auto& member : dead)
    all.push_back({member.id, member.name, member.pid, next.epoch, unix_ms});
  if (all.size() > cluster::most_casualties)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(cluster::most_casualties));
}

}  // namespace turno::registry

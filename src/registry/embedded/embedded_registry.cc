#include "registry/embedded/embedded_registry.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "registry/admission.h"
#include "registry/embedded/safe_directory.h"
#include "registry/succession.h"

namespace turno::registry {

namespace fs = std::filesystem;
using Kind = Error::Kind;

namespace {

constexpr std::chrono::milliseconds patience{5000};
constexpr std::size_t longest_path = 480;  // SQLite's limit is 512, and it appends to the name
constexpr std::int64_t surely_a_tick_ns = 100'000'000;
constexpr std::chrono::milliseconds time_to_leave{1000}, between_looks{20};

tl::unexpected<Error> failure(Kind kind, std::string message) {
  return tl::unexpected(Error{kind, std::move(message)});
}

std::string reason(int number) { return std::generic_category().message(number); }

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

tl::unexpected<Error> not_for_children() {
  return failure(Kind::refused, "a forked child cannot use its parent's registry");
}

fs::path absolute_directory(const fs::path& directory) {
  std::error_code error;
  auto path = fs::absolute(directory, error).lexically_normal();
  if (error) path = directory.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

EmbeddedRegistry::EmbeddedRegistry(const fs::path& directory, WallClock clock)
    : directory_(absolute_directory(directory)),
      database_file_(directory_ / "registry.db"),
      files_(directory_ / "members"),
      process_(::getpid()),
      clock_(clock) {}

EmbeddedRegistry::~EmbeddedRegistry() {
  // A forked child must not touch the connection: closing it could play back a journal that the
  // parent is writing.
  if (forked()) static_cast<void>(database_.release());
}

bool EmbeddedRegistry::forked() const { return ::getpid() != process_; }

std::optional<EmbeddedRegistry::FileState> EmbeddedRegistry::look_at_database() const {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  struct stat status {};
  if (::stat(database_file_.c_str(), &status) != 0) return std::nullopt;
  FileState state{status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim)};
  state.settled = nanoseconds(now) - state.changed_ns > surely_a_tick_ns;
  return state;
}

Expected<void> EmbeddedRegistry::make_directory() {
  if (database_file_.native().size() > longest_path) {
    return failure(Kind::refused, fmt::format("registry {}: the path has {} bytes, at most {} work",
                                              database_file_.string(),
                                              database_file_.native().size(), longest_path));
  }
  for (const auto& directory : {directory_, files_.directory()}) {
    if (auto made = registry::make_directory(directory); !made) {
      // That a parent is no directory is no sign of a missing cluster here.
      if (made.error().kind == Kind::absent) made.error().kind = Kind::unavailable;
      return made;
    }
  }
  // Made here rather than by SQLite, which would let others read the key; and made without opening
  // it, for closing it again would drop the locks that SQLite has in this process.
  if (::mknod(database_file_.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) != 0 && errno != EEXIST) {
    return failure(Kind::unavailable,
                   fmt::format("registry {}: {}", database_file_.string(), reason(errno)));
  }
  return {};
}

void EmbeddedRegistry::close() {
  database_.reset();
  seen_.reset();
  seen_state_.reset();
}

Expected<EmbeddedRegistry::FileState> EmbeddedRegistry::open() {
  const auto state = look_at_database();
  const int number = errno;
  if (database_ != nullptr && state && state->same_file(opened_)) return *state;
  if (self_.has_value()) {
    return failure(
        Kind::lost,
        fmt::format("registry {}: it was removed or replaced while this node was a member; "
                    "this node must be started again",
                    database_file_.string()));
  }
  close();
  // Says more than that the file cannot be looked at.
  if (auto safe = check_directory(directory_); !safe && safe.error().kind != Kind::absent) {
    return tl::unexpected(safe.error());
  }
  if (!state) {
    const auto missing = number == ENOENT || number == ENOTDIR;
    return failure(missing ? Kind::absent : Kind::unavailable,
                   fmt::format("registry {}: {}", database_file_.string(),
                               missing ? "there is no cluster in this directory" : reason(number)));
  }
  if (auto safe = check_file(database_file_); !safe) return tl::unexpected(safe.error());
  auto database = std::make_unique<Database>(database_file_);
  database->wait_for_others(patience);
  database->run("PRAGMA synchronous = FULL");
  if (!database->ok()) return tl::unexpected(database->error());
  if (const auto now = look_at_database(); !now || !now->same_file(*state)) {
    return failure(Kind::unavailable, database->message("it was replaced while it was opened"));
  }
  database_ = std::move(database);
  opened_ = *state;
  return *state;
}

Expected<StoredView> EmbeddedRegistry::load() {
  auto stored = load_view(*database_);
  if (!self_.has_value()) return stored;
  const auto lost = [this](std::string_view how) {
    return failure(Kind::lost, database_->message(fmt::format(
                                   "{} while this node was a member; others may be granted its "
                                   "locks, so it must be started again",
                                   how)));
  };
  if (!stored) return stored.error().kind == Kind::absent ? lost("it was emptied") : stored;
  if (stored->view.key != key_) return lost("it belongs to another cluster now: it was replaced");
  if (stored->view.epoch < newest_) {
    return lost(fmt::format("it went back from view {} to view {}", newest_, stored->view.epoch));
  }
  return stored;
}

void EmbeddedRegistry::remember(const StoredView& stored, std::int64_t version) {
  newest_ = stored.view.epoch;
  seen_state_.reset();
  seen_ = stored;
  seen_version_ = version;
}

Expected<void> EmbeddedRegistry::mend_lock_file() {
  if (!self_.has_value() || lock_->in_place()) return {};
  ::mkdir(files_.directory().c_str(), S_IRWXU);  // perhaps it is gone too
  auto lock = std::make_unique<LockFile>();
  if (auto made = lock->create(files_.path_of(*self_)); !made) return made;
  lock_ = std::move(lock);
  return {};
}

Expected<View> EmbeddedRegistry::change(bool create, const Edit& edit) {
  auto& database = *database_;
  std::vector<Member> dead;
  const Transaction transaction(database, "BEGIN IMMEDIATE");
  if (create) {
    if (auto made = create_view_table(database); !made) return tl::unexpected(made.error());
  }
  auto stored = load();
  if (!stored) return tl::unexpected(stored.error());
  const auto version = database.number("PRAGMA data_version");
  auto& view = stored->view;
  StoredView next{view, {}};
  next.view.members.clear();
  for (std::size_t i = 0; i < view.members.size(); ++i) {
    const auto& member = view.members[i];
    if (self_ != member.id && files_.certainly_dead(*stored, i)) {
      dead.push_back(member);
    } else {
      next.view.members.push_back(member);
      next.process_spaces.push_back(stored->process_spaces[i]);
    }
  }
  const bool alone = next.view.members.empty();
  files_.sweep(view);  // first, for it may make the room that is needed
  const auto wanted = edit(next);
  if (!wanted) return tl::unexpected(wanted.error());
  if (dead.empty() && !*wanted) {
    remember(*stored, version);
    return view;
  }
  if (auto numbered = number(view, alone, clock_(), next.view); !numbered) {
    const auto& error = numbered.error();
    return failure(error.kind, database.message(error.message));
  }
  note_casualties(dead, system_clock(), next.view);
  if (next.view.crashed) next.view.crash_moment = Moment::now();
  if (auto written = store_view(database, next); !written) return tl::unexpected(written.error());
  if (!database.commit()) return tl::unexpected(database.error());
  remember(next, version);
  for (const auto& member : dead) {
    if (next.view.find(member.id) == nullptr) files_.remove(member.id);
  }
  return next.view;
}

Expected<View> EmbeddedRegistry::join(const Member& self, const Settings& wanted) {
  if (forked()) return not_for_children();
  const std::lock_guard guard(mutex_);
  if (self_.has_value()) return failure(Kind::refused, "this node has already joined");
  if (auto fine = check_candidate(self, wanted); !fine) return tl::unexpected(fine.error());
  if (auto made = make_directory(); !made) return tl::unexpected(made.error());
  if (auto opened = open(); !opened) return tl::unexpected(opened.error());
  auto lock = std::make_unique<LockFile>();
  bool stranger = false;
  const auto enter = [&](StoredView& next) -> Expected<bool> {
    stranger = files_.any_stranger(next.view);
    if (stranger) {
      return failure(Kind::refused,
                     fmt::format("registry {}: a node that is not in it still runs: it was emptied "
                                 "or replaced, so stop all nodes of this directory first",
                                 database_file_.string()));
    }
    if (auto admitted = admit(self, wanted, next.view); !admitted) {
      return tl::unexpected(admitted.error());
    }
    next.view.members.back().pid = process_;
    next.process_spaces.push_back(process_space());
    if (auto locked = lock->create(files_.path_of(self.id)); !locked) {
      return tl::unexpected(locked.error());
    }
    return true;
  };
  auto view = change(true, enter);
  // Who leaves lets go of its lock file a moment after the view without it was written.
  const auto end = std::chrono::steady_clock::now() + time_to_leave;
  while (!view && stranger && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(between_looks);
    view = change(true, enter);
  }
  // After a failure the unlocked file stays: should the commit have succeeded after all, it shows
  // that this member is dead. Otherwise it is swept.
  if (!view) return view;
  self_ = self.id;
  key_ = view->key;
  lock_ = std::move(lock);
  return view;
}

Expected<void> EmbeddedRegistry::leave() {
  if (forked()) return not_for_children();
  const std::lock_guard guard(mutex_);
  if (!self_.has_value()) return {};
  if (auto opened = open(); opened) {
    auto view = change(false, [&](StoredView& next) -> Expected<bool> {
      const auto index = next.view.index_of(*self_);
      if (index == nobody) return false;
      const auto position = static_cast<std::ptrdiff_t>(index.index());
      next.view.members.erase(next.view.members.begin() + position);
      next.process_spaces.erase(next.process_spaces.begin() + position);
      return true;
    });
    if (!view && view.error().kind != Kind::lost) return tl::unexpected(view.error());
  } else if (opened.error().kind != Kind::lost) {
    return tl::unexpected(opened.error());
  }
  if (lock_->in_place()) files_.remove(*self_);
  lock_.reset();
  self_.reset();
  return {};
}

Expected<View> EmbeddedRegistry::read() {
  auto& database = *database_;
  const Transaction transaction(database, "BEGIN");
  const auto version = database.number("PRAGMA data_version");
  if (database.ok() && seen_ && version == seen_version_) return seen_->view;
  auto stored = load();
  if (!stored) return tl::unexpected(stored.error());
  remember(*stored, version);
  return stored->view;
}

Expected<View> EmbeddedRegistry::current() {
  if (forked()) return not_for_children();
  const std::lock_guard guard(mutex_);
  const auto state = open();
  if (!state) return tl::unexpected(state.error());
  if (auto mended = mend_lock_file(); !mended) return tl::unexpected(mended.error());
  if (seen_ && seen_state_ == *state) return seen_->view;
  // While another view is being written, the one seen last is still the current one.
  if (seen_) database_->wait_for_others(std::chrono::milliseconds(0));
  auto view = read();
  database_->wait_for_others(patience);
  if (!view && seen_ && database_->busy()) return seen_->view;
  if (view && state->settled) seen_state_ = *state;
  return view;
}

Expected<View> EmbeddedRegistry::reconsider(bool bump) {
  if (forked()) return not_for_children();
  const std::lock_guard guard(mutex_);
  if (auto opened = open(); !opened) return tl::unexpected(opened.error());
  if (auto mended = mend_lock_file(); !mended) return tl::unexpected(mended.error());
  return change(false, [bump](StoredView&) -> Expected<bool> { return bump; });
}

bool EmbeddedRegistry::is_dead(std::uint64_t id) {
  if (forked()) return false;
  const std::lock_guard guard(mutex_);
  if (!seen_) return false;
  const auto index = seen_->view.index_of(id);
  return index != nobody && files_.certainly_dead(*seen_, index.index());
}

}  // namespace turno::registry

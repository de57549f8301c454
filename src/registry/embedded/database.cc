#include "registry/embedded/database.h"

#include <fmt/format.h>

#include <system_error>
#include <thread>

namespace turno::registry {

Database::Database(const std::filesystem::path& file) : file_(file.string()) {
  check(sqlite3_open_v2(file_.c_str(), &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        nullptr));
  if (connection_ == nullptr) return;
  sqlite3_extended_result_codes(connection_, 1);
  sqlite3_busy_handler(connection_, &Database::wait, this);
}

Database::~Database() { sqlite3_close(connection_); }

void Database::wait_for_others(std::chrono::milliseconds limit) { patience_ = limit; }

// SQLite's own waits grow to 100 ms, and who waits long loses against those who come often.
int Database::wait(void* self, int times) {
  auto& database = *static_cast<Database*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (times == 0) database.waiting_since_ = now;
  if (now - database.waiting_since_ >= database.patience_) return 0;
  const auto jitter = static_cast<unsigned>(now.time_since_epoch().count()) % 1000;
  std::this_thread::sleep_for(std::chrono::microseconds(500 + jitter));
  return 1;
}

bool Database::check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return ok();
  if (!ok()) return false;
  code_ = code;
  reason_ = connection_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection_);
  const int number = connection_ == nullptr ? 0 : sqlite3_system_errno(connection_);
  if (number != 0 && (code & 0xff) == SQLITE_IOERR) {
    reason_ += fmt::format(" ({})", std::generic_category().message(number));
  }
  return false;
}

bool Database::run(const char* sql) {
  if (ok()) check(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr));
  return ok();
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.row() ? statement.number() : 0;
}

bool Database::begin(const char* sql) {
  code_ = SQLITE_OK;
  reason_.clear();
  return run(sql);
}

void Database::rollback() {
  if (connection_ == nullptr || sqlite3_get_autocommit(connection_) != 0) return;
  // If this fails too, the file is left to its journal, which whoever reads next plays back.
  sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Error Database::error() const {
  auto kind = Error::Kind::unavailable;
  std::string advice;
  switch (code_ & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      kind = Error::Kind::damaged;
      advice = ": stop all nodes of this directory and remove it (fences go on from the clock)";
      break;
    case SQLITE_READONLY:
      if (code_ == SQLITE_READONLY_DBMOVED) kind = Error::Kind::lost;
      break;
    case SQLITE_CANTOPEN:  // the system's reason that SQLite keeps may be that of a second attempt
      advice = ": it or its journal cannot be made or opened (no room, no permission?)";
      break;
    case SQLITE_BUSY:
      advice = ": another process is changing it; try again";
      break;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
      kind = Error::Kind::damaged;
      break;
    default:
      break;
  }
  return {kind, message(reason_ + advice)};
}

std::string Database::message(std::string_view what) const {
  return fmt::format("registry {}: {}", file_, what);
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
  if (!database_.ok()) return;
  database_.check(sqlite3_prepare_v2(database_.connection_, sql, -1, &statement_, nullptr));
}

Statement& Statement::operator<<(std::int64_t value) {
  if (database_.ok()) database_.check(sqlite3_bind_int64(statement_, ++parameter_, value));
  return *this;
}

Statement& Statement::operator<<(std::string_view text) {
  if (!database_.ok()) return *this;
  database_.check(sqlite3_bind_text64(statement_, ++parameter_, text.data(), text.size(),
                                      SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

bool Statement::row() {
  if (!database_.ok()) return false;
  column_ = 0;
  const int code = sqlite3_step(statement_);
  return database_.check(code) && code == SQLITE_ROW;
}

bool Statement::execute() {
  row();
  return database_.ok();
}

std::int64_t Statement::number() { return sqlite3_column_int64(statement_, column_++); }

std::string Statement::text() {
  const auto* data = sqlite3_column_blob(statement_, column_);  // null if the text is empty
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_++));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

}  // namespace turno::registry

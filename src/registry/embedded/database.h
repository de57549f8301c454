// SQLite, as little of it as the registry needs.
//
// The first failure sticks: until the next begin(), every later call does nothing and answers
// false, so a whole transaction is written down straight and asked about once, at its end.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "registry/registry.h"

namespace turno::registry {

// Not thread-safe.
class Database {
 public:
  // Opens the file, which must exist. Check ok().
  explicit Database(const std::filesystem::path& file);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // How long to wait for others. At first not at all.
  void wait_for_others(std::chrono::milliseconds limit);

  bool run(const char* sql);
  // The one number that a query answers.
  std::int64_t number(const char* sql);

  // Forgets an earlier failure.
  bool begin(const char* sql);
  bool commit() { return run("COMMIT"); }
  // Ends the transaction if there is one; the failure stays.
  void rollback();

  [[nodiscard]] bool ok() const { return code_ == SQLITE_OK; }
  [[nodiscard]] bool busy() const { return (code_ & 0xff) == SQLITE_BUSY; }
  [[nodiscard]] Error error() const;
  // What is wrong with this file, for people.
  [[nodiscard]] std::string message(std::string_view what) const;

 private:
  friend class Statement;
  bool check(int code);
  static int wait(void* self, int times);

  std::string file_;
  sqlite3* connection_ = nullptr;
  int code_ = SQLITE_OK;
  std::string reason_;
  std::chrono::milliseconds patience_{0};
  std::chrono::steady_clock::time_point waiting_since_;
};

class Statement {
 public:
  Statement(Database& database, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  // Binds the next parameter.
  Statement& operator<<(std::int64_t value);
  Statement& operator<<(std::string_view text);  // REQUIRES: outlives the statement

  bool row();      // steps to the next row
  bool execute();  // REQUIRES: a statement without rows

  // The next column of the row.
  std::int64_t number();
  std::string text();

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int parameter_ = 0;
  int column_ = 0;
};

// Rolled back unless it was committed.
class Transaction {
 public:
  Transaction(Database& database, const char* begin) : database_(database) {
    database_.begin(begin);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { database_.rollback(); }

 private:
  Database& database_;
};

}  // namespace turno::registry

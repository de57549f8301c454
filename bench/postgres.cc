#include "postgres.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

namespace turno::bench {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// Where Debian puts it, the newest version.
std::string program(const std::string& name) {
  std::vector<fs::path> found;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql"))
    if (fs::exists(version.path() / "bin" / name)) found.push_back(version.path() / "bin" / name);
  if (found.empty()) throw std::runtime_error("PostgreSQL is not installed");
  return *std::max_element(found.begin(), found.end());
}

Words as_itself(Words words) {
  if (::geteuid() == 0)
    words.insert(words.begin(), {"setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups",
                                 "--pdeathsig=INT", "--"});
  return words;
}

fs::path made_directory(const fs::path& directory) {
  fs::create_directories(directory);
  if (::geteuid() == 0) {
    const auto* user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(directory.c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error("PostgreSQL has no directory that belongs to postgres");
  }
  Program initdb(as_itself({program("initdb"), "--auth=trust", "--username=postgres", "--no-sync",
                            "--pgdata=" + (directory / "data").string()}),
                 directory / "log");
  if (initdb.wait() != 0)
    throw std::runtime_error("initdb failed: " + (directory / "log").string());
  return directory;
}

struct Close {
  void operator()(PGconn* connection) const { ::PQfinish(connection); }
  void operator()(PGresult* result) const { ::PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Close>;
using Result = std::unique_ptr<PGresult, Close>;

Connection connect(int port) {
  Connection connection(::PQconnectdb(
      fmt::format("host=127.0.0.1 port={} user=postgres dbname=postgres", port).c_str()));
  if (::PQstatus(connection.get()) != CONNECTION_OK)
    throw std::runtime_error(::PQerrorMessage(connection.get()));
  return connection;
}

class PostgresTalker final : public Talker {
 public:
  PostgresTalker(int port, int semaphore, int permits, std::chrono::milliseconds pause)
      : connection_(connect(port)),
        semaphore_(std::to_string(semaphore)),
        permits_(std::to_string(permits)),
        pause_(pause) {
    // It stops at the first that is free: LIMIT, and no order.
    prepare("take",
            "SELECT slot FROM generate_series(1, $2::int) slot "
            "WHERE pg_try_advisory_lock($1::int, slot) LIMIT 1");
    prepare("give", "SELECT pg_advisory_unlock($1::int, $2::int)");
  }
  [[nodiscard]] int descriptor() const override { return ::PQsocket(connection_.get()); }
  void begin() override { ask("take", permits_); }
  void go_on() override { begin(); }

  Progress read() override {
    if (::PQconsumeInput(connection_.get()) == 0) fail();
    while (!::PQisBusy(connection_.get())) {
      const Result result(::PQgetResult(connection_.get()));
      if (result == nullptr) return finish();
      if (::PQresultStatus(result.get()) != PGRES_TUPLES_OK) fail();
      answer_ = ::PQntuples(result.get()) > 0 ? ::PQgetvalue(result.get(), 0, 0) : "";
    }
    return {};
  }

 private:
  // The statement is done.
  Progress finish() {
    if (std::exchange(holds_, false)) {
      begin();
      return {.finished = 1};
    }
    holds_ = !answer_.empty();
    if (holds_) {
      ask("give", answer_);
    } else if (pause_.count() > 0) {
      return {.pause = pause_};
    } else {
      begin();
    }
    return {};
  }
  void prepare(const char* name, const char* text) {
    const Result result(::PQprepare(connection_.get(), name, text, 2, nullptr));
    if (::PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail();
  }
  void ask(const char* statement, const std::string& second) {
    const std::array values = {semaphore_.c_str(), second.c_str()};
    if (::PQsendQueryPrepared(connection_.get(), statement, 2, values.data(), nullptr, nullptr,
                              0) == 0)
      fail();
  }
  [[noreturn]] void fail() const { throw std::runtime_error(::PQerrorMessage(connection_.get())); }

  const Connection connection_;
  const std::string semaphore_, permits_;
  const std::chrono::milliseconds pause_;
  std::string answer_;
  bool holds_ = false;
};

}  // namespace

Postgres::Postgres(const fs::path& directory)
    : port_(free_port()),
      program_(as_itself({program("postgres"), "-D", (made_directory(directory) / "data").string(),
                          "-p", std::to_string(port_), "-k", directory.string(), "-c",
                          "listen_addresses=127.0.0.1"}),
               directory / "log") {
  await([&] { connect(port_); });
}

std::unique_ptr<Talker> Postgres::talker(int semaphore, int permits,
                                         std::chrono::milliseconds pause) const {
  return std::make_unique<PostgresTalker>(port_, semaphore, permits, pause);
}

}  // namespace turno::bench

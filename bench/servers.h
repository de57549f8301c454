// The servers of a measurement: real ones, as processes of their own, on ports of the loopback,
// with their data in a temporary directory. They end with the objects here.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "competitors.h"

namespace turno::bench {

class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& name);
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// On which nobody listens.
int free_port();
// Tries until it does not throw, for `seconds` at most.
void await(const std::function<void()>& attempt, int seconds = 10);

// A cluster of nodes named n1, n2, ...; its directory is made.
class TurnoCluster {
 public:
  TurnoCluster(const std::string& turno, const std::filesystem::path& directory, std::size_t size,
               const std::vector<std::string>& options = {});
  // "127.0.0.1:4711" and "unix:/path" of each node.
  [[nodiscard]] const std::vector<std::string>& tcp() const { return tcp_; }
  [[nodiscard]] const std::vector<std::string>& sockets() const { return sockets_; }
  [[nodiscard]] const std::vector<Program>& programs() const { return programs_; }
  [[nodiscard]] std::size_t size() const { return tcp_.size(); }

 private:
  std::vector<std::string> tcp_, sockets_;
  std::vector<Program> programs_;
};

class Redis {
 public:
  explicit Redis(const std::filesystem::path& directory);
  [[nodiscard]] std::string tcp() const;
  [[nodiscard]] const std::string& socket() const { return socket_; }
  // What EVALSHA takes.
  [[nodiscard]] std::string load(const std::string& script) const;

 private:
  int port_;
  std::string socket_;
  Program program_;
};

}  // namespace turno::bench

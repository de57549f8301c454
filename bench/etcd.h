// Elections of etcd, over its HTTP interface.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "driver.h"
#include "servers.h"

namespace turno::bench {

class Etcd {
 public:
  explicit Etcd(const std::filesystem::path& directory);
  // One connection that campaigns in an election and resigns, over and over. Its session is a lease
  // of its own.
  [[nodiscard]] std::unique_ptr<Talker> talker(const std::string& election) const;

 private:
  int port_, peer_port_;
  Program program_;
};

}  // namespace turno::bench

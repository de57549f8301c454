// Asks an etcd cluster through its JSON gateway: one request at a time, each bounded in time. What
// one endpoint does not answer well, the next one is asked; so a request that changes something may
// take effect twice, or later than its answer: only what compares before it writes is safe.
//
// Not thread-safe.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/text/json.h"

namespace turno::registry {

struct EtcdAccess {
  std::vector<std::string> endpoints;  // "http://127.0.0.1:2379", "https://etcd-1:2379"
  std::string user, password;          // empty: nobody is asked
  // Files, for https: who is to be believed, and what this side shows.
  std::string authority_file, certificate_file, key_file;
  std::chrono::milliseconds patience{1000};  // for one endpoint
};

// Of the clock that goes on while the machine is suspended (CLOCK_BOOTTIME).
[[nodiscard]] std::chrono::nanoseconds boot_clock();

class Gateway {
 public:
  struct Trouble {
    bool answered = false;  // by etcd, and another endpoint would say the same
    int code = 0;           // of that answer, as gRPC counts
    std::string message;
  };
  struct Answer {
    boost::json::object body;
    std::chrono::nanoseconds sent{};  // the boot clock before this very request was sent
  };

  explicit Gateway(EtcdAccess access);
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  ~Gateway();

  // Path: behind "/v3/".
  tl::expected<Answer, Trouble> post(std::string_view path, const Json& body);
  [[nodiscard]] const EtcdAccess& access() const { return access_; }

  static constexpr int not_found = 5, unauthenticated = 16;

 private:
  class Curl;

  tl::expected<Answer, Trouble> post_here(std::string_view path, const Json& body);
  tl::expected<Answer, Trouble> send(std::string_view path, const Json& body);
  tl::expected<void, Trouble> authenticate();

  const EtcdAccess access_;
  std::unique_ptr<Curl> curl_;
  std::size_t endpoint_ = 0;  // the one to be asked
  std::string token_;
};

}  // namespace turno::registry

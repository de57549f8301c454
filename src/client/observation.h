// One election, observed: by a connection of its own, to the node that the session uses, and to
// another one when that node goes or is silent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "client/connection.h"
#include "turno/service.h"

namespace turno::client {

class ElectionObserver final : public Observation {
 public:
  // Where to ask; `silent` did not answer.
  using FindNode = std::function<tl::expected<net::Address, Error>(
      const std::optional<net::Address>& silent, const std::stop_token& stop)>;
  struct Options {
    std::string name;  // of the client
    std::chrono::milliseconds answer_timeout{2000};
  };

  ElectionObserver(std::string election, Service::LeaderChanged changed, FindNode find_node,
                   Options options);
  ~ElectionObserver() override;

  // Until something is known, at most so long. Why not.
  tl::expected<void, Error> wait(std::chrono::milliseconds longest);

 private:
  void run(const std::stop_token& stop);
  // As long as the node is well. True: it was silent.
  bool listen(const net::Address& address, const std::stop_token& stop);
  bool on_push(const wire::Reply& push);
  bool on_observed(wire::Reply* reply, Connection& connection);
  void hear(std::uint64_t term, std::optional<Leader> leader);
  void fail(Error error);

  const std::string election_;
  const Service::LeaderChanged changed_;
  const FindNode find_node_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool broken_ = false;  // the connection, or the node leaves
  bool known_ = false;   // who leads, or that nobody does
  Error error_{Error::Code::unavailable, "no node has answered in time"};

  // Of the thread in which the connection is read; the next connection comes after the last.
  std::uint64_t term_ = 0;  // the latest of which was told
  std::optional<Leader> leader_;
  bool told_ = false;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace turno::client

// Questions to a node, for those who look on: who holds, who waits, who is a member.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "cli/cluster/gaps.h"
#include "client/connection.h"
#include "cluster/view.h"
#include "turno/client.h"
#include "turno/error.h"

namespace turno::cli {

// Who holds permits of a semaphore or resources of a store by one grant or is in a room, or for
// whom they are kept.
struct PermitHolder {
  Holder holder;
  std::vector<std::uint64_t> permits;
  std::string group;  // of a room
  std::vector<Resource> resources = {};
};

// Something that is held. Of a semaphore, a store or a room the holder has only what a WhoAnswer
// has.
struct HeldLock {
  std::string name;
  Holder holder;
  std::vector<PermitHolder> holders = {};
};

struct WaitingClient {
  std::string node, client, from;
  std::uint64_t session = 0;
  std::chrono::milliseconds waiting{0};
  std::uint64_t count = 0;  // of a semaphore: how many permits it wants
  std::string group = {};   // of a room
  std::string wants = {};   // of a store: "gpu:2 licence:1"
};

template <class T>
struct Answer {
  std::vector<T> list;
  Gaps gaps;
};

// Who holds one lock. Of a semaphore, a store or a room the holder has only `in_use` or `inside`,
// and `waiting`, and `holders` are those who have some or are inside.
struct WhoAnswer {
  std::optional<Holder> holder;
  std::vector<PermitHolder> holders;
  bool complete = true;  // if not, and there is no holder: some member that did not answer may be
};

// Who has something and, perhaps, waits for something.
struct ChainLink {
  std::string node, client, from;
  std::uint64_t session = 0;
  std::string has, has_kind;
  std::string waits_for, waits_for_kind;  // empty: it waits for nothing
  std::chrono::milliseconds waiting{0};
  bool stuck = false;
};
struct Chain {
  std::vector<ChainLink> links;
  std::string deadlock;  // in words, if there is one
};

// What a node knows of a member without asking it.
struct MemberState {
  std::string name;
  cluster::ProcessState process{};
  std::chrono::milliseconds quiet{0};  // since it was heard of
};

// What a node tells about itself: the lines "key:value" of INFO.
class NodeInfo {
 public:
  explicit NodeInfo(std::string_view text);
  [[nodiscard]] std::string text(const std::string& key) const;      // empty if there is none
  [[nodiscard]] std::uint64_t number(const std::string& key) const;  // 0 if there is none

 private:
  std::map<std::string, std::string, std::less<>> lines_;
};

class NodeQuery {
 public:
  // A node that asks all others gives up on a silent one after a second.
  static constexpr std::chrono::milliseconds for_all{3000}, for_one{1000};

  // Waits so long for every answer, and at most `for_one` for the greeting.
  static tl::expected<NodeQuery, Error> open(const std::string& address,
                                             std::chrono::milliseconds patience);
  // The first node that answers, of those that node_addresses() finds; or why each does not.
  static tl::expected<NodeQuery, Error> reach(const std::vector<std::string>& node_options,
                                              const std::string& directory);

  [[nodiscard]] const std::string& address() const { return address_; }

  tl::expected<NodeInfo, Error> info();
  tl::expected<std::vector<cluster::Member>, Error> members();
  tl::expected<std::vector<MemberState>, Error> member_states();
  tl::expected<Answer<HeldLock>, Error> locks();
  // `kind`: lock, semaphore, election, room or store; empty: the first of these that somebody has
  // or wants.
  tl::expected<WhoAnswer, Error> who(std::string_view name, std::string_view kind = {});
  tl::expected<Answer<WaitingClient>, Error> waiters(std::string_view name,
                                                     std::string_view kind = {});
  // Who has it, for what each of them waits, who has that, and so on.
  tl::expected<Chain, Error> chain(std::string_view name, std::string_view kind = {});
  // How many permits a semaphore has from now on. REQUIRES: there is less time than for an answer.
  tl::expected<void, Error> resize(std::string_view semaphore, std::uint32_t permits,
                                   std::chrono::milliseconds time);
  // The node begins to leave.
  tl::expected<void, Error> drain();
  [[nodiscard]] bool is_open() const { return !connection_->closed(); }

 private:
  NodeQuery(std::string address, std::chrono::milliseconds patience,
            std::unique_ptr<client::Connection> connection)
      : address_(std::move(address)), patience_(patience), connection_(std::move(connection)) {}

  // An answer that is an error is an error here.
  tl::expected<wire::Reply, Error> call(const client::Connection::Arguments& arguments);
  tl::expected<std::vector<wire::Reply>, Error> list(
      const client::Connection::Arguments& arguments);

  std::string address_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<client::Connection> connection_;
};

}  // namespace turno::cli

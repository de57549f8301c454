// The registry of nodes on many machines: one key in etcd, which is changed only by
// compare-and-swap, so that etcd's log makes one sequence of views.
//
//   /turno/CLUSTER/view        the view, as text
//   /turno/CLUSTER/stamp       which view it is, in a few bytes that no other view has
//   /turno/CLUSTER/member/ID   there as long as that member's lease: it seems to live
//
// A member proves that it is one by a transaction that goes through etcd's log, never by its lease:
// etcd ends leases too early after a change of its leader, and renews them too long at a leader
// that is cut off. A lease that is gone is only a reason to drop the member, after a while of
// grace, and its owner mends it if it can. So a living member may be dropped at any time; that is
// safe because of *authority*: a member acts for its users until the time at which it sent its last
// good proof plus the authority of the view, and whoever adopts a view without it waits longer than
// that before giving away what it may have had.
//
// A request that was not answered may take effect later, as all compare before they write: who
// asked sees that at its next proof.
//
// Fails for good (lost) if the view does not list this member any more, went back, is another one
// of the same epoch, or belongs to another cluster or to another etcd.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/etcd/gateway.h"
#include "registry/registry.h"
#include "registry/succession.h"

namespace turno::registry {

struct EtcdTimes {
  std::chrono::milliseconds authority{15'000};  // of a cluster that this member founds
  std::chrono::milliseconds beat{2000};         // between two proofs
  std::chrono::milliseconds lease{6000};        // in whole seconds
  std::chrono::milliseconds grace{2000};        // that a lease may be gone
  std::chrono::milliseconds turn{200};  // by which each member waits longer to drop others than the
                                        // one before it in the view
  std::chrono::milliseconds to_join{10'000};
};

class EtcdRegistry final : public Registry {
 public:
  EtcdRegistry(EtcdAccess access, std::string cluster, EtcdTimes times = {},
               WallClock clock = system_clock);
  ~EtcdRegistry() override = default;  // the lease ends by itself: the member seems dead then

  Expected<View> join(const Member& self, const Settings& wanted) override;
  Expected<void> leave() override;
  // Asks etcd once a beat, and answers in between what it has seen.
  Expected<View> current() override;
  Expected<View> reconsider(bool bump) override;
  // Seems to be, for longer than the grace: false may be wrong, and true may be, too.
  bool is_dead(std::uint64_t id) override;

  // Until when (boot_clock) this member may act for its users. Before it has joined: 0.
  [[nodiscard]] std::chrono::nanoseconds authority_until() const;
  // The next current() asks etcd, however soon it comes: somebody has seen a newer view.
  void look_again();

 private:
  using Nanoseconds = std::chrono::nanoseconds;
  // What etcd said of the view and of who seems to live.
  struct Sight {
    bool as_expected = false;         // the view was the one of the revision that was named
    std::int64_t now = 0;             // etcd's revision after the transaction
    std::optional<View> view;         // if it was brought; nothing otherwise: there is none
    std::int64_t revision = 0;        // of that view; 0: there is none
    std::vector<std::uint64_t> roll;  // whose leases are there, if that was asked for
    Nanoseconds sent{};
  };

  [[nodiscard]] std::string view_key() const { return prefix_ + "view"; }
  [[nodiscard]] std::string stamp_key() const { return prefix_ + "stamp"; }
  [[nodiscard]] std::string member_key(std::uint64_t id) const;
  Expected<Sight> transact(const std::string& comparisons, const std::vector<std::string>& then,
                           const std::vector<std::string>& otherwise);
  Expected<Sight> read_sight(const Gateway::Answer& answer);
  Expected<void> recognise(const boost::json::object& header);
  // Has etcd the view of this revision? With the roll of members in any case.
  Expected<Sight> prove(std::int64_t revision);
  // Writes the next view if the present one has this revision, and brings the one that is there
  // otherwise.
  Expected<Sight> replace(std::int64_t revision, const View& next,
                          const std::vector<std::string>& besides);
  Expected<View> take(const Sight& sight);
  void note_roll(const Sight& sight, const View& view);
  [[nodiscard]] bool seems_dead(std::uint64_t id, const View& view, Nanoseconds now) const;
  // Takes those who seem dead out of a view.
  std::vector<Member> bury(View& view) const;
  // Comparisons: the view is the one that was seen, and of this revision.
  [[nodiscard]] std::string is_still(std::int64_t revision) const;
  // Gives the next view its number, and its dead.
  Expected<void> advance(const View& view, bool founds, const std::vector<Member>& dead,
                         View& next) const;
  [[nodiscard]] std::string put_own_key() const;

  // After a failure: whether another try may do better.
  enum class Again : std::uint8_t { no, yes, until_named };
  Expected<View> try_to_join(const Member& self, const Settings& wanted, Again& again);
  Expected<void> get_lease();
  // Renews the lease, and puts this member's key back if it is not there.
  Expected<void> keep_alive(bool key_is_there);
  [[nodiscard]] tl::unexpected<Error> unavailable(const Gateway::Trouble& trouble) const;
  [[nodiscard]] tl::unexpected<Error> lost(std::string_view how) const;

  const std::string prefix_;  // "/turno/CLUSTER/"
  const EtcdTimes times_;
  const WallClock clock_;

  mutable std::mutex mutex_;  // guards what follows
  Gateway gateway_;
  std::optional<std::uint64_t> self_;
  std::optional<View> seen_;
  std::int64_t revision_ = 0;  // of the view that was seen
  std::string etcd_;           // the number of the etcd cluster that was joined
  std::int64_t lease_ = 0;
  Nanoseconds proved_{0};  // when the last good proof was sent
  Nanoseconds asked_{0};   // when etcd was asked last, whatever came of it
  bool look_again_ = false;
  std::map<std::uint64_t, Nanoseconds> missed_since_;  // members whose leases are gone
};

}  // namespace turno::registry

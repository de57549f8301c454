// How desks behave, and where one stands in a view.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cluster/turn.h"
#include "core/container/node_set.h"
#include "core/demand.h"
#include "core/node_id.h"
#include "core/setup.h"

namespace turno::cluster {

// All desks of a cluster have the same rules.
struct Rules {
  // A rule taken away, for the checker to refute and for tests that must notice it.
  enum class Without : std::uint8_t {
    nothing,
    all_reports,      // the home does not wait for them
    epochs,           // what older views have sent is heard
    fence_epoch,      // fences of a new view begin where the first one's did
    fence_floor,      // fences of a new instance begin anew
    inquiries,        // "I have nothing" answers whatever the home waits for
    escrow,           // what the dead may have had is given away at once
    giving_back,      // a turn that nobody waits for any more is kept
    leaving_between,  // who leaves while there is no instance is forgotten
    orphans,          // messages of instances not known yet are dropped
    fences_of_users,  // leaving ends whatever grant there is, not only the one that is named
    memory,           // a home forgets what the dead may have had
    own_users,        // who tries asks although another user of its member is inside
    bequests,         // who has moved to another member may let go at the one it came from
    heirs,            // what somebody brought along is not claimed for it
    authority,        // the delay does not wait for members that were dropped and still act
    warning,          // users of such a member are not told before its authority is over
    reclaims,         // who was refused elsewhere is taken for moved all the same
    winners,          // of those who try a free thing at once nobody may go on
    freeing,          // the home is not told that whoever stayed inside has left
    spoils,           // the instance goes on although somebody was sent what cannot be
    surplus,          // permits beyond a number that has become smaller are given out again
    old_numbers,      // what was beyond it is not kept for the dead
    // Of what is remembered of those who are gone (homes/home_of_pools.cc) is forgotten:
    held,          // what they had when they asked
    last_request,  // that what they asked for may have been granted
    answers,       // what they were answered
    releases,      // that they were told of releases
    others_gone,   // that others who are gone too have answered them
    witnesses,     // that there are others who know more
    kept_before    // that some permits are kept for who died before
  };
  // As on a command line, in their order.
  static constexpr std::array<std::string_view, 30> names = {
      "nothing",         "all-reports", "epochs",          "fence-epoch",
      "fence-floor",     "inquiries",   "escrow",          "giving-back",
      "leaving-between", "orphans",     "fences-of-users", "memory",
      "own-users",       "bequests",    "heirs",           "authority",
      "warning",         "reclaims",    "winners",         "freeing",
      "spoils",          "surplus",     "old-numbers",     "held",
      "last-request",    "answers",     "releases",        "others-gone",
      "witnesses",       "kept-before"};

  std::uint8_t in_a_row = fences_per_turn;  // users of a member in one turn
  bool eager = true;        // a member asks again before it leaves if its user will come back
  bool collective = true;   // after a change of the view only those report that have something
  bool tries = true;        // the home keeps in mind who may be inside
  std::uint32_t seats = 2;  // of a member's users, at least, where each has its own
  Without without = Without::nothing;
};

// What a member knows in one view of all things that have their home with it.
struct Ledger {
  std::uint64_t born = 0;   // the last instance
  std::uint64_t floor = 0;  // no fence of an instance that ended counted further
  bool delayed = false;     // a crash is so recent that clients of the dead may not know it yet
  NodeSet unreported;       // members that may still have something to report
  bool knew_all = false;    // in the view before: who had what of the things it was the home of

  // In the next view.
  [[nodiscard]] Ledger next(const NodeSet& others, bool still_delayed) const {
    return {
        .delayed = still_delayed, .unreported = others, .knew_all = unreported.empty() && !delayed};
  }
  // Surely nobody that is gone has a thing which has no desk here.
  [[nodiscard]] bool clears_unknown(bool was_its_home) const {
    return !delayed || (knew_all && was_its_home);
  }

  [[nodiscard]] auto fields() const { return std::tie(born, floor, delayed, unreported, knew_all); }
  bool operator==(const Ledger&) const = default;
};

// Where a desk stands in a view.
struct Context {
  const Setup* setup = nullptr;  // a tree with its root at the home
  NodeId self, home;
  Ledger* ledger = nullptr;
  Rules rules;
  std::uint64_t fences_from = 0;  // is added to the view's epoch in fences (View::fences_from)
  Primitive kind = Primitive::lock;
  // Of so many voters, if the algorithm needs them for other numbers than the setup's.
  std::vector<std::vector<NodeId>> (*quorums)(std::size_t voters) = nullptr;

  [[nodiscard]] bool at_home() const { return self == home; }
  [[nodiscard]] bool without(Rules::Without rule) const { return rules.without == rule; }
};

}  // namespace turno::cluster

// What the home of a thing knows of it, and does. The home is one member of the view, the same for
// all; it gives birth to the runs of the algorithm, its instances, and ends them. While one lives,
// the algorithm is on its own.
//
// What it wants said is added to letters; those to its own member are delivered by the desk.
//
// Invariants: (1) the home gives birth only when everybody that could take part in an earlier
// instance has reported on it; (2) a report answers one inquiry, which it names, once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "cluster/note.h"
#include "cluster/rules.h"
#include "core/container/node_set.h"

namespace turno::cluster {

struct Home {
  bool here = false;     // this member is the home
  NodeSet missing;       // who has not reported yet
  Instance inquiry = 0;  // what they are to report on: the instance that ended, or 0 for the view
  NodeSet wishes;        // who asked to take part meanwhile
  NodeSet tries;         // who asked whether it is free meanwhile
  NodeSet members;       // who was told of the instance
  Instance instance = 0;
  std::vector<Holding> holdings;  // reported; or of the instance, at its birth
  std::uint64_t count = 0;        // with which the instance was born
  bool clear = false;             // surely nobody that is gone has it
  NodeSet occupied;               // members that may be inside, as far as they have said so
  std::uint32_t permits = 0;      // of a semaphore: how many there are; 0: nobody has said it
  std::uint32_t numbers = 0;      // up to which number somebody may have one
  std::uint32_t resize_to = 0;    // how many there are to be in the next instance; 0: as many
  bool resized = false;           // somebody has said that there are so many from now on
  Terms terms;                    // of a room or a store: reported; or of the instance
  // The groups or types that members want, in the order in which they have said so.
  struct Wanted {
    NodeId member;
    Group group;
    [[nodiscard]] auto fields() const { return std::tie(member, group); }
    bool operator==(const Wanted&) const = default;
  };
  std::vector<Wanted> wanted;
  Groups remembered;  // of a store: the types of the instance that ended
  // Of a semaphore, after a death. What members that live know of those who are gone; and what
  // those may have, once that has been worked out.
  std::vector<Evidence> evidence;
  bool weighed = false;
  std::vector<std::uint32_t> perhaps;  // in their order

  static constexpr std::array<std::string_view, 21> labels = {
      "here",     "missing", "inquiry", "wishes",     "tries",    "members", "instance",
      "holdings", "count",   "clear",   "occupied",   "permits",  "numbers", "resize to",
      "resized",  "terms",   "wanted",  "remembered", "evidence", "weighed", "perhaps"};
  [[nodiscard]] auto fields() const {
    return std::tie(here, missing, inquiry, wishes, tries, members, instance, holdings, count,
                    clear, occupied, permits, numbers, resize_to, resized, terms, wanted,
                    remembered, evidence, weighed, perhaps);
  }
  bool operator==(const Home&) const = default;

  // These members are asked what their users have.
  void begin(const NodeSet& asked, Instance about, bool nobody_gone_has_it);
  // A note of a member, perhaps of its own. `used_here`: its own users are inside or wait.
  void receive(const Context& context, NodeId from, const Note& note, bool used_here,
               Letters& letters);
  // Ends the instance: whoever took part is to report. REQUIRES: lives()
  void retire(const Context& context, Letters& letters);

  [[nodiscard]] bool lives() const { return here && instance != 0; }
  // What the dead may have had is kept for them.
  [[nodiscard]] bool keeps_for_the_dead() const { return lives() && !clear; }
  // This permit is one of that.
  [[nodiscard]] bool keeps(std::uint32_t unit) const {
    return std::binary_search(perhaps.begin(), perhaps.end(), unit);
  }
  // Surely these members, who are gone now, did not have it.
  [[nodiscard]] bool clears(const NodeSet& gone) const;
  // How many were told of the instance, but for these.
  [[nodiscard]] std::uint32_t count_members_but(const NodeSet& gone) const;
  // A home that is begun anew from the ledger knows as much.
  [[nodiscard]] bool is_idle(const Ledger& ledger) const {
    const bool as_new = inquiry == 0 && missing == ledger.unreported && holdings.empty();
    return !here ||
           (instance == 0 && (missing.empty() || as_new) && wishes.empty() && tries.empty());
  }

 private:
  bool take(NodeId from, Instance about);
  void take_report(const Context& context, NodeId from, const Note& note);
  void believe(const Holding& holding);
  [[nodiscard]] std::vector<bool> taken() const;
  void take_open(const Context& context, NodeId from, const Note& note, Letters& letters);
  void keep_for_the_dead(const Context& context);
  void forgo(const Context& context, NodeId from, bool used_here, Letters& letters);
  void end_instance(const Context& context, Letters& letters);
  void tell_unknown(Letters& letters);
  void answer_probe(NodeId from, bool used_here, Letters& letters);
  void mark(NodeId from, bool inside, Letters& letters);
  void conclude(const Context& context, Letters& letters);
  void give_birth(const Context& context, Letters& letters);
  void tell_opened(NodeId member, Letters& letters);

  // ---- of semaphores (homes/home_of_pools.cc)

  [[nodiscard]] std::vector<std::uint32_t> weigh(const Context& context);
  void keep_permits_for_the_dead(const Context& context);
  void resize(const Context& context, NodeId from, std::uint32_t so_many, Letters& letters);
  void number_permits(const Context& context);
  void add_own(const Holding& more);

  // ---- of rooms and stores (homes/home_of_rooms.cc)

  [[nodiscard]] bool serves(const Terms& wishes_for) const;
  void want(NodeId from, const Terms& wishes_for);
  void count_seats(const Context& context);

  // ---- of rooms

  void take_room(NodeId from, const Note& note);
  void furnish(Letters& letters);
  void keep_visit_for_the_dead(const Context& context);
  void tell_managers(const Context& context, Letters& letters);

  // ---- of stores (homes/home_of_stores.cc)

  void take_store(NodeId from, const Note& note);
  [[nodiscard]] bool fits(const Group& type) const;
  [[nodiscard]] Group settled(const Group& wish, const Groups& known) const;
  void stock(Letters& letters);
  void keep_instances_for_the_dead(const Context& context);
  void refuse_unknown(NodeId from, Terms& wishes_for, Letters& letters) const;
};

}  // namespace turno::cluster

// What the desks of one thing say to each other: the messages of its algorithm, and the notes that
// give birth to a run of it, end it and begin it again.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/resources.h"
#include "core/holding.h"
#include "core/last_seen.h"
#include "core/node_id.h"
#include "core/setup.h"

namespace turno::cluster {

using Instance = std::uint64_t;  // one run of the algorithm, counted by the home from 1; 0 is none

inline constexpr std::size_t longest_name = 512;        // of a thing, in bytes
inline constexpr std::uint32_t most_permits = 65'535;   // of one semaphore
inline constexpr std::size_t most_groups = most_types;  // of one room, used or waited for
inline constexpr std::uint32_t most_seats = 256;        // of one member's users in one thing

// What is said of a room, or of a store.
struct Terms {
  Groups groups{};          // report: of those inside; open: wanted; opened: all, by number
  std::uint32_t seats = 0;  // report, open: wanted for the sender's users; opened: of a member
  bool kept = false;        // opened: what the dead may have of a limited group nobody else gets
  Fence fence{};            // report, opened: with which those who are inside have entered

  [[nodiscard]] auto fields() const { return std::tie(groups, seats, kept, fence); }
  bool operator==(const Terms&) const = default;
};

// Of a semaphore, in the report on a change of the view: what its sender knows of those who are
// gone.
struct Evidence {
  Instance instance = 0;            // of which the sender was part
  std::uint32_t witnesses = 0;      // no more members that live can have been
  AllLastSeen gone;                 // of each who is gone
  std::vector<std::uint32_t> kept;  // what the sender, its home, had kept for others before

  [[nodiscard]] auto fields() const { return std::tie(instance, witnesses, gone, kept); }
  bool operator==(const Evidence&) const = default;
};

struct Note {
  enum class Kind : std::uint8_t {
    protocol,  // no note: a message of the algorithm
    report,    // to the home: I have dropped my part; this is what my users have
    open,      // to the home: I want to take part
    query,     // to the home: what became of this instance?
    opened,    // this is the instance, and who has what in it
    gone,      // it is no more
    retire,    // drop your part and report
    reported,  // to the home: what I have not reported, my users do not have (of all things)
    spoilt,    // to the home: this instance cannot go on, somebody sent what cannot be
    probe,     // to the home: one of my users tries; is it free?
    busy,      // somebody has it, or is about to: the try fails
    go,        // nobody is known to have it: ask as others do
    held,      // to the home: a user of mine has had it for a while
    freed,     // to the home: it has left, or does not try any more
    unknown,   // nobody has said how many permits (instances of these types) there are; or there
               // are too many groups or types for these
    forgo,     // to the home: none of my users wants it, or tries, any more
    resize     // to the home: from now on there are so many permits; and I want to take part
  };
  static constexpr std::array<std::string_view, 17> kinds = {
      "protocol", "report", "open", "query", "opened", "gone",    "retire", "reported", "spoilt",
      "probe",    "busy",   "go",   "held",  "freed",  "unknown", "forgo",  "resize"};

  Kind kind = Kind::protocol;
  // The one it is about. Of a report: the one that was retired, or 0 after a change of the view.
  Instance instance = 0;
  std::vector<Holding> holdings{};  // report: of the sender; opened: of all
  std::uint64_t count = 0;          // report: fences reached this; opened: they count from here
  bool clear = false;               // report: surely nobody that is gone had it
  // Of a semaphore, in report, open, opened and resize: how many there are, as far as the sender
  // knows. And in report and opened, up to which number they go: further if there were more before,
  // and somebody still has one; and whether somebody has resized it.
  std::uint32_t permits = 0, numbers = 0;
  bool resized = false;
  Terms terms{};                     // of a room or a store
  std::vector<Evidence> evidence{};  // one, or none

  bool operator==(const Note&) const = default;
};

template <class Inner>
struct DeskMessage : Note {
  Inner inner{};  // protocol

  static constexpr std::array<std::string_view, 11> labels = {
      "kind",    "instance", "holdings", "count",    "clear", "permits",
      "numbers", "resized",  "terms",    "evidence", "inner"};
  [[nodiscard]] auto fields() const {
    return std::tie(kind, instance, holdings, count, clear, permits, numbers, resized, terms,
                    evidence, inner);
  }
  bool operator==(const DeskMessage&) const = default;
};

// A note on its way.
struct Letter {
  NodeId to;
  Note note;
};
using Letters = boost::container::small_vector<Letter, 2>;

}  // namespace turno::cluster

// Which rules of group mutual exclusion over quorums are as printed: sets of flaws, by name.
#pragma once

#include <array>
#include <cstdint>

#include "core/protocol.h"

namespace turno::protocols::as_published {

// One bit a rule that is as printed instead of corrected.
struct Flaw {
  enum : std::uint32_t {
    own_lock = 1U << 0,         // nobody grants a group its own lock
    own_entry = 1U << 1,        // a leaving group's request stays in its own list
    hand_off = 1U << 2,         // ... or is removed, but the next one is granted twice
    re_request = 1U << 3,       // a second request does not ask for the own lock
    leader_leaves = 1U << 4,    // only a finishing leader leaves the list of processes
    late_joiner = 1U << 5,      // who is let in during a session is not listed
    no_holder = 1U << 6,        // the lock is asked back from the best request, not from its holder
    any_recall = 1U << 7,       // a lock is given back in any state but inside
    recall_by_state = 1U << 8,  // ... only by who competes and has it
    any_yield = 1U << 9,        // a lock is taken back from anybody
    any_grant = 1U << 10,       // a lock is taken without looking which request it is for
    early_recall = 1U << 11,    // a lock that has not come yet is given back, and then counted
    dropped_recall = 1U << 12,  // ... the recall is forgotten
    any_release = 1U << 13,     // a release removes whatever request there is of its group
    no_sessions = 1U << 14,     // a process is listed once, whichever its session
    asks_inside = 1U << 15,     // the group asks again while some are inside
    larger_first = 1U << 16,    // the larger priority wins
    local_counters = 1U << 17,  // priorities are not adjusted to those of others
    request_clock = 1U << 18,   // ... only to those of requests
    repeated_recall = 1U << 19,  // a lock is asked back again and again
  };
  // What remains after each of the repairs of the ladder.
  static constexpr std::uint32_t level_6 =
      no_holder | recall_by_state | any_yield | any_grant | any_release | local_counters;
  static constexpr std::uint32_t level_5 = (level_6 & ~std::uint32_t{recall_by_state}) | any_recall;
  static constexpr std::uint32_t level_4 = level_5 | late_joiner;
  static constexpr std::uint32_t level_3 = level_4 | leader_leaves;
  static constexpr std::uint32_t level_2 = level_3 | re_request;
  static constexpr std::uint32_t level_1 = level_2 | own_entry;
  static constexpr std::uint32_t level_0 = level_1 | own_lock;
};

struct FlawedReading {
  std::uint32_t flaws;
  Departure departure;
};

inline constexpr std::array quorum_group_readings = {
    FlawedReading{Flaw::level_0,
                  {"level-0", "as printed: nobody grants a group its own lock, so nobody enters",
                   "--groups 2 --visits 0 --channels fifo"}},
    FlawedReading{Flaw::level_1,
                  {"level-1", "the own lock is asked for; the own request is never removed",
                   "--groups 2 --visits 0 --channels fifo"}},
    FlawedReading{Flaw::level_2,
                  {"level-2", "... and removed; a second request does not ask for the own lock",
                   "--groups 2 --visits 0,0 --channels fifo"}},
    FlawedReading{Flaw::level_3,
                  {"level-3", "... and does; only a finishing leader leaves the list",
                   "--groups 2 --visits 0,0 --channels fifo"}},
    FlawedReading{Flaw::level_4,
                  {"level-4", "... and everybody does; who is let in late is not listed",
                   "--groups 4 --quorums 03,13,23,3 --visits 0,1,2 --channels fifo"}},
    FlawedReading{Flaw::level_5,
                  {"level-5", "... and is; a lock is given back by who does not have it",
                   "--groups 4 --quorums 03,13,23,3 --visits 0,1,2 --channels fifo"}},
    FlawedReading{Flaw::level_6,
                  {"level-6", "... and is not: right, if channels keep order",
                   "--groups 2 --visits 0,1 --channels unordered"}},
    FlawedReading{Flaw::own_entry,
                  {"own-entry", "a leaving group's request stays in its own list",
                   "--groups 2 --visits 0,1 --channels fifo"}},
    FlawedReading{Flaw::hand_off,
                  {"hand-off", "a leaving group grants its own lock twice",
                   "--groups 2 --visits 0 --channels fifo"}},
    FlawedReading{Flaw::hand_off | Flaw::any_grant,
                  {"hand-off-any-grant", "... and the second one counts for the next request",
                   "--groups 3 --visits 00,11 --channels fifo --property exclusion"}},
    FlawedReading{Flaw::re_request,
                  {"re-request", "a second request does not ask for the own lock",
                   "--groups 2 --visits 00,0,0 --channels fifo"}},
    FlawedReading{Flaw::leader_leaves,
                  {"leader-leaves", "only a finishing leader leaves the list of processes",
                   "--groups 2 --visits 0,0 --channels fifo"}},
    FlawedReading{Flaw::late_joiner,
                  {"late-joiner", "a process that is let in late is not listed",
                   "--groups 2 --visits 0,0,1 --channels fifo --property exclusion"}},
    FlawedReading{Flaw::no_holder | Flaw::any_recall | Flaw::any_yield,
                  {"no-holder", "a lock is asked back from a group that waits for it",
                   "--groups 4 --quorums 03,13,23,3 --visits 0,1,2 --channels fifo"}},
    FlawedReading{Flaw::no_holder | Flaw::any_recall,
                  {"no-holder-checked", "... also if it is taken back only from who has it",
                   "--groups 5 --quorums 04,14,24,34,4 --visits 0,1,2,3 --channels fifo"}},
    FlawedReading{Flaw::repeated_recall | Flaw::early_recall | Flaw::any_yield,
                  {"repeated-recall", "a lock is asked back twice and given back twice",
                   "--groups 6 --quorums 045,145,245,345,45,45 --visits 0,1,2,3 --channels fifo"}},
    FlawedReading{
        Flaw::any_recall | Flaw::any_yield,
        {"stale-recall", "a recall is answered after the session for which it was sent",
         "--groups 4 --quorums 03,13,23,3 --visits 0,1,2 --channels fifo --property exclusion"}},
    FlawedReading{Flaw::early_recall,
                  {"early-recall", "a lock is given back before it comes, and then counted",
                   "--groups 4 --quorums 03,13,23,3 --visits 0,1 --channels unordered"}},
    FlawedReading{Flaw::dropped_recall,
                  {"dropped-recall", "a recall that overtakes its lock is forgotten",
                   "--groups 3 --quorums 012,012,012 --visits 0,1 --channels unordered"}},
    FlawedReading{Flaw::any_release,
                  {"any-release", "a late release removes the next request of its group",
                   "--groups 2 --visits 00 --channels unordered"}},
    FlawedReading{Flaw::no_sessions,
                  {"no-sessions", "a late farewell removes the process from its next session",
                   "--groups 3 --visits 00,11 --channels unordered --property exclusion"}},
    FlawedReading{Flaw::asks_inside,
                  {"asks-inside", "a group asks again while some of its processes are inside",
                   "--groups 2 --visits 00,0,0 --channels fifo"}},
    FlawedReading{
        Flaw::larger_first,
        {"larger-first", "the larger priority wins: the oldest request may starve",
         "--groups 3 --quorums 012,012,012 --visits 000,1 --channels fifo --overtakings 2"}},
    FlawedReading{Flaw::local_counters,
                  {"local-counters", "counters that do not follow those of others",
                   "--groups 3 --visits 000,111 --channels fifo --overtakings 2"}},
    FlawedReading{Flaw::request_clock,
                  {"request-clock", "counters that follow only those of requests",
                   "--groups 3 --visits 000,111 --channels fifo --overtakings 2"}},
};

}  // namespace turno::protocols::as_published

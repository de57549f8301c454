#include "canaries.h"

#include <array>

#include "plays.h"

namespace turno::torture {

namespace {

using Kind = Canary::Kind;

constexpr std::array all = {
    Canary{.name = "all-reports",
           .flaw = "the home does not wait for all reports",
           .play = "slow-report"},
    Canary{.name = "epochs", .flaw = "what older views have sent is heard", .play = "late-token"},
    Canary{.name = "fence-epoch",
           .flaw = "fences of a new view begin where the first one's did",
           .play = "used-again"},
    Canary{.name = "fence-floor",
           .flaw = "fences begin anew when a lock was forgotten",
           .play = "used-again"},
    Canary{.name = "inquiries",
           .flaw = "\"I have nothing\" answers whatever the home waits for",
           .play = "late-reported"},
    Canary{.name = "memory",
           .flaw = "a home forgets what the dead may have had",
           .play = "dead-holder"},
    Canary{.name = "escrow",
           .flaw = "what the dead may have had is given away at once",
           .play = "dead-holder"},
    Canary{.name = "giving-back",
           .flaw = "a turn that nobody waits for any more is kept",
           .play = "given-up"},
    Canary{.name = "leaving-between",
           .flaw = "who leaves while there is no instance is forgotten",
           .play = "leaving-between"},
    Canary{.name = "orphans",
           .algorithm = "ricart-agrawala",
           .flaw = "messages of instances not known yet are dropped",
           .play = "first-use"},
    Canary{.name = "fences-of-users",
           .flaw = "leaving ends whatever grant there is",
           .hidden = "the table looks at owner and fence before the desk does"},
    Canary{.name = "own-users",
           .algorithm = "maekawa",
           .flaw = "who tries asks although another user of its member is inside",
           .play = "overtaken-try"},
    Canary{.name = "stamp-test",
           .flaw = "a request can reach its own sender",
           .kind = Kind::departure,
           .play = "crossing-requests"},
    Canary{.name = "hop-limit",
           .flaw = "a request may chase the token for ever",
           .kind = Kind::departure,
           .play = "chase"},
    Canary{.name = "carried-first",
           .flaw = "those absorbed on the way starve the others",
           .kind = Kind::departure,
           .play = "carried-claim"},
    Canary{.name = "answers-while-waiting",
           .algorithm = "ricart-agrawala",
           .flaw = "who waits answers also those who came later",
           .kind = Kind::departure},
    Canary{.name = "no-clock-rule",
           .algorithm = "ricart-agrawala",
           .flaw = "the clock does not follow what it receives",
           .kind = Kind::departure},
    Canary{.name = "ties-answered",
           .algorithm = "ricart-agrawala",
           .flaw = "of two requests with one time each lets the other go first",
           .kind = Kind::departure},
    Canary{.name = "votes-for-all",
           .algorithm = "maekawa",
           .flaw = "an arbiter votes for everybody",
           .kind = Kind::departure},
    Canary{.name = "token-kept",
           .flaw = "who hands the token over has it still",
           .kind = Kind::departure},
    Canary{.name = "permits-all-replies",
           .flaw = "of a semaphore: one answer may be missing",
           .kind = Kind::departure,
           .permits = 3,
           .rule = "all-replies"},
    Canary{.name = "permits-units",
           .flaw = "of a semaphore: an answer does not say what is held",
           .kind = Kind::departure,
           .permits = 3,
           .rule = "units"},
    Canary{.name = "permits-clock",
           .flaw = "of a semaphore: the clock does not follow requests",
           .kind = Kind::departure,
           .permits = 3,
           .rule = "clock"},
    Canary{.name = "permits-freed",
           .flaw = "of a semaphore: releases are not told",
           .kind = Kind::departure,
           .permits = 3,
           .rule = "freed"},
    Canary{.name = "permits-escrow",
           .flaw = "what the dead may have had of a semaphore is given away at once",
           .permits = 1,
           .rule = "escrow",
           .play = "dead-permit"},
    Canary{.name = "permits-all-reports",
           .flaw = "the home of a semaphore does not wait for all reports",
           .permits = 3,
           .rule = "all-reports",
           .hidden = "who holds a permit is asked by all who want one, and ends an instance that "
                     "does not know of it: only a fence goes back, and rarely"},
    Canary{.name = "permits-fence-epoch",
           .flaw = "fences of a new view begin where the first one's did",
           .permits = 3,
           .rule = "fence-epoch"},
    Canary{.name = "permits-giving-back",
           .flaw = "a request for permits that nobody waits for any more goes on",
           .permits = 3,
           .rule = "giving-back"},
    Canary{.name = "resources-all-reports",
           .flaw = "the home of a store does not wait for all reports",
           .allocator = "central-allocator",
           .rule = "all-reports"},
    Canary{.name = "resources-fence-epoch",
           .flaw = "fences of a new view begin where the first one's did",
           .allocator = "central-allocator",
           .rule = "fence-epoch"},
    Canary{.name = "resources-fences-kept",
           .flaw = "central-allocator: the fences of what is given back are not kept",
           .kind = Kind::departure,
           .allocator = "central-allocator",
           .rule = "fences-kept"},
    Canary{.name = "resources-locked-tokens",
           .flaw = "brokered: who is asked for an instance gives it away although it uses it",
           .kind = Kind::departure,
           .allocator = "brokered",
           .rule = "locked-tokens"},
    Canary{.name = "rooms-votes-for-all",
           .flaw = "of a room: an arbiter votes for every group",
           .kind = Kind::departure,
           .groups = 3,
           .rule = "votes-for-all"},
    Canary{.name = "rooms-capacity",
           .flaw = "of a room: a manager lets in as many as like",
           .kind = Kind::departure,
           .groups = 3,
           .rule = "capacity"},
    Canary{.name = "rooms-all-reports",
           .flaw = "the home of a room does not wait for all reports",
           .groups = 3,
           .rule = "all-reports",
           .play = "slow-visitor"},
    Canary{.name = "rooms-escrow",
           .flaw = "where the dead may be, others are let in at once",
           .groups = 3,
           .rule = "escrow",
           .play = "dead-visitor"},
    Canary{.name = "elections-escrow",
           .flaw = "another one leads at once when the leader's node has died",
           .elections = true,
           .rule = "escrow",
           .play = "dead-leader"},
    Canary{.name = "elections-news",
           .flaw = "observers are told old news of leaders, too",
           .kind = Kind::news,
           .elections = true,
           .play = "late-news"},
    Canary{.name = "last-father",
           .algorithm = "nxr-b",
           .flaw = "two nodes starve a third",
           .kind = Kind::departure,
           .hidden = "needs a request that overtakes a token on its line; links keep order"},
};

}  // namespace

std::span<const Canary> canaries() { return all; }

Report look_for(const Canary& canary, Options options) {
  if (canary.kind == Kind::news) {
    options.node.news_in_order = false;
  } else {
    auto& flaw = canary.kind == Kind::rule   ? options.node.without
                 : canary.permits > 0        ? options.node.semaphore_departure
                 : canary.groups > 0         ? options.node.room_departure
                 : !canary.allocator.empty() ? options.node.store_departure
                                             : options.node.departure;
    flaw = canary.rule.empty() ? canary.name : canary.rule;
  }
  options.node.algorithm = canary.algorithm;
  options.things = {
      .permits = canary.permits, .groups = canary.groups, .elections = canary.elections};
  if (!canary.allocator.empty()) {
    options.things.resources = {2, 1};
    options.node.allocator = canary.allocator;
  }
  const auto* play = play_named(canary.play);
  if (play == nullptr && !canary.play.empty()) return {.misplayed = "there is no such play"};
  options.until_complaint = true;
  // A machine that is busy elsewhere may be late for its cue.
  const auto directory = options.node.directory;
  Report report;
  for (int i = 0; i < 3 && report.complaints.empty(); ++i, ++options.seed) {
    options.node.directory = directory / std::to_string(i);
    report = play != nullptr ? perform(*play, options) : torture(options);
  }
  return report;
}

}  // namespace turno::torture

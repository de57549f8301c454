// Commands under `turno lock` and its likes, while nodes are killed, stopped, told to leave and
// replaced, and the commands' wrappers are killed and stopped. Each command notes when it runs;
// never may two of one lock run at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge.h"
#include "run.h"

namespace turno::torture {

struct Commands {
  std::string turno;           // the program
  std::string self;            // this one, which is also the command that is run
  std::uint32_t wrappers = 8;  // at a time
  std::uint32_t locks = 2;
  // Not only `turno lock`: for the locks in turn also `turno semaphore` of one permit, `turno room`
  // with a group of its own for each command, `turno reserve` of the only instance, `turno elect`.
  bool all_kinds = false;
  bool without_lock = false;  // a canary: the commands are run as they are
  // Nothing is disturbed but that one node after another is replaced, as for an upgrade: nobody may
  // lose a lock.
  bool rolling = false;
};

Report run_commands(const Options& options, const Commands& commands);

// What a command does: it notes every 2 ms that it runs, for as long as it is to. `kind` says what
// it does when it is told to stop: "quick" ends, "careful" takes a while, "stubborn" goes on.
int work(const std::string& notes, const std::string& lock, std::uint32_t time_ms,
         const std::string& kind);

// One line of the notes.
struct Note {
  std::string lock;
  std::int64_t process = 0, at = 0;
};
// How long the longest pause between two commands of one lock was.
std::int64_t longest_stall(std::span<const Note> notes);
// Two of one lock ran at once: who, and for how long.
std::vector<std::string> overlaps(std::span<const Note> notes);

}  // namespace turno::torture

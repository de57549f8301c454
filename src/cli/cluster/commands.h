// The commands of turno. Each adds itself to the command line and, when chosen, sets what to run.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/job.h"

namespace turno::cli {

void add_node(Command app, Job& job);
void add_up(Command app, Job& job);
void add_down(Command app, Job& job);
void add_drain(Command app, Job& job);
void add_status(Command app, Job& job);
void add_members(Command app, Job& job);
void add_locks(Command app, Job& job);
void add_waiters(Command app, Job& job);
void add_why(Command app, Job& job);
void add_set(Command app, Job& job);
// `command` is what it runs; see frame/command_words.h.
void add_lock(Command app, Job& job, const std::vector<std::string>& command);
void add_semaphore(Command app, Job& job, const std::vector<std::string>& command);
void add_elect(Command app, Job& job, const std::vector<std::string>& command);
void add_room(Command app, Job& job, const std::vector<std::string>& command);
void add_reserve(Command app, Job& job, const std::vector<std::string>& command);
void add_leader(Command app, Job& job);
void add_demo(Command app, Job& job);

}  // namespace turno::cli

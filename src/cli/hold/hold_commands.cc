// turno lock, turno semaphore, turno elect, turno room, turno reserve: run a command while holding
// something.
#include <fmt/core.h>

#include <memory>

#include "cli/cluster/commands.h"
#include "cli/hold/hold.h"

namespace turno::cli {

namespace {

// What all of them have.
void add_common(Command& command, HoldOptions& options, const std::string& thing) {
  command.add_option("-w,--timeout", options.timeout,
                     "Wait at most so long, in seconds or with a unit (500ms); 0 tries once "
                     "(default: for ever)");
  command.add_flag("-n,--nonblock", options.nonblock, "Try once: --timeout 0");
  command
      .add_option("-E,--conflict-exit-code", options.conflict_status,
                  "Exit status if the " + thing + " is not acquired in time")
      .capture_default_str();
  command.add_option("--ttl", options.ttl,
                     "The node takes the " + thing +
                         " back when it has not heard of this process for so long; "
                         "the command is stopped before (default: when the connection ends)");
  command.add_option("--kill-after", options.kill_after,
                     "When the " + thing +
                         " is lost: from SIGTERM to SIGKILL (default, and at most: 3/4 of the "
                         "cluster's lock delay)");
  command
      .add_option("--node", options.nodes,
                  "HOST:PORT or unix:PATH of a node; several may be given (default: "
                  "TURNO_NODE_ADDRESS, or those in --dir)")
      .repeatable();
  command.add_option("--dir", options.directory,
                     "Directory of the cluster on this machine (default: as for turno up)");
  command.add_flag("--system", options.system, "The cluster for all users of this machine");
  command.add_flag("-q,--quiet", options.quiet,
                   "Say nothing when the " + thing + " is not acquired or lost");
  command.add_flag("-v,--verbose", options.verbose, "Say what happens");
  command.exclusive("--nonblock", "--timeout");
}

constexpr std::string_view exit_statuses =
    "\nExit status: the command's; 128+n if signal n ended it or the wait; 123 {} lost; 124 not\n"
    "acquired in time; 125 Turno's own error; 126 command cannot be run; 127 not found; 64 "
    "usage.\n";

}  // namespace

void add_lock(Command app, Job& job, const std::vector<std::string>& command) {
  auto lock = app.add_subcommand("lock", "Run a command while holding a lock");
  auto options = std::make_shared<HoldOptions>();
  lock.add_option("NAME", options->name, "The lock").required();
  add_common(lock, *options, "lock");
  lock.footer(
      "\nturno lock NAME [OPTIONS] [--] COMMAND [ARGUMENTS...]\n"
      "\nThe command runs without a shell, in a process group of its own. It finds the lock in\n"
      "TURNO_LOCK, TURNO_FENCE, TURNO_NODE and TURNO_SESSION, and all locks that it runs under in\n"
      "TURNO_LOCKS, one a line; TURNO_HELD has all that it runs under, of all kinds. Signals are\n"
      "passed on. If the lock is lost, the group gets SIGTERM,\n"
      "and SIGKILL before others can have the lock; if this process is killed, SIGKILL.\n" +
      fmt::format(exit_statuses, "lock") +
      "\nExamples:\n  turno lock backup -- tar czf /backup/home.tar.gz /home\n"
      "  turno lock backup --timeout 0 sh -c 'echo $TURNO_FENCE'\n");
  lock.callback([&job, &command, options] {
    job = [&command, options] { return run_while_holding(*options, command); };
  });
}

void add_semaphore(Command app, Job& job, const std::vector<std::string>& command) {
  auto semaphore =
      app.add_subcommand("semaphore", "Run a command while holding permits of a semaphore");
  auto options = std::make_shared<HoldOptions>();
  options->kind = Kind::semaphore;
  semaphore.add_option("NAME", options->name, "The semaphore").required();
  semaphore.add_option("-p,--permits", options->permits,
                       "How many permits it has (default: as those say who use it)");
  semaphore.add_option("-c,--count", options->count, "How many of them are wanted")
      .capture_default_str();
  add_common(semaphore, *options, "semaphore");
  semaphore.footer(
      "\nturno semaphore NAME --permits K [OPTIONS] [--] COMMAND [ARGUMENTS...]\n"
      "\nAs turno lock, but up to K commands run at once. The permits are granted together, in "
      "the\n"
      "order of requests. The command finds the semaphore in TURNO_SEMAPHORE, the numbers of its\n"
      "permits (0 to K-1) in TURNO_SLOTS, separated by commas, and TURNO_FENCE, TURNO_NODE and\n"
      "TURNO_SESSION.\n" +
      fmt::format(exit_statuses, "permits") +
      "\nExamples:\n  turno semaphore encode --permits 3 -- ffmpeg -i in.mkv out.mp4\n"
      "  turno semaphore gpu -p 4 -c 2 sh -c 'echo $TURNO_SLOTS'\n");
  semaphore.callback([&job, &command, options] {
    job = [&command, options] { return run_while_holding(*options, command); };
  });
}

void add_elect(Command app, Job& job, const std::vector<std::string>& command) {
  auto elect = app.add_subcommand("elect", "Run a command while leading an election");
  auto options = std::make_shared<HoldOptions>();
  options->kind = Kind::election;
  elect.add_option("NAME", options->name, "The election").required();
  elect.add_option("--value", options->value,
                   "What the leader says of itself, for turno leader NAME (default: nothing)");
  add_common(elect, *options, "leadership");
  elect.footer(
      "\nturno elect NAME [--value V] [OPTIONS] [--] COMMAND [ARGUMENTS...]\n"
      "\nAs turno lock: the command runs as soon as nobody else leads, and as long as this "
      "process\n"
      "leads. It finds the election in TURNO_ELECTION, its term (which grows with every leader) "
      "in\n"
      "TURNO_TERM and TURNO_FENCE, and TURNO_NODE and TURNO_SESSION. turno leader NAME tells who\n"
      "leads.\n" +
      fmt::format(exit_statuses, "leadership") +
      "\nExamples:\n  turno elect scheduler --value 10.0.0.7:8080 -- ./scheduler\n"
      "  turno elect scheduler --timeout 0 sh -c 'echo $TURNO_TERM'\n");
  elect.callback([&job, &command, options] {
    job = [&command, options] { return run_while_holding(*options, command); };
  });
}

void add_room(Command app, Job& job, const std::vector<std::string>& command) {
  auto room =
      app.add_subcommand("room", "Run a command while inside a room, with others of a group");
  auto options = std::make_shared<HoldOptions>();
  options->kind = Kind::room;
  room.add_option("NAME", options->name, "The room").required();
  room.add_option("-g,--group", options->group, "The group with which to enter").required();
  room.add_option("-c,--capacity", options->capacity,
                  "How many of the group may be inside (default: as those say who use it, or as "
                  "many as like)");
  add_common(room, *options, "room");
  room.footer(
      "\nturno room NAME --group GROUP [OPTIONS] [--] COMMAND [ARGUMENTS...]\n"
      "\nAs turno lock, but commands of one group run together, and never while those of another\n"
      "do. With --capacity 1 a group's commands run one after the other: so a room is a lock for\n"
      "readers and writers. The command finds TURNO_ROOM, TURNO_GROUP, TURNO_FENCE (the same for\n"
      "all that are inside together), TURNO_NODE and TURNO_SESSION.\n" +
      fmt::format(exit_statuses, "room") +
      "\nExamples:\n  turno room data --group read -- ./report\n"
      "  turno room data --group write --capacity 1 -- ./import\n");
  room.callback([&job, &command, options] {
    job = [&command, options] { return run_while_holding(*options, command); };
  });
}

void add_reserve(Command app, Job& job, const std::vector<std::string>& command) {
  auto reserve = app.add_subcommand("reserve", "Run a command while holding several resources");
  auto options = std::make_shared<HoldOptions>();
  options->kind = Kind::store;
  options->name = "resources";
  reserve
      .add_option("RESOURCES", options->resources,
                  "What is wanted: TYPE[:COUNT][/INSTANCES], separated by commas")
      .required();
  reserve.add_option("--store", options->name, "The store to which they belong")
      .capture_default_str();
  add_common(reserve, *options, "reservation");
  reserve.footer(
      "\nturno reserve TYPE[:COUNT][/INSTANCES],... [OPTIONS] [--] COMMAND [ARGUMENTS...]\n"
      "\nAs turno lock, but the command gets so many instances of each type, all of them at once.\n"
      "How many there are says a node's file ([resources.gpu] instances = 8), or whoever asks "
      "first:\n"
      "gpu:2/8 is two of eight. The command finds the instances in TURNO_RESOURCES, as in\n"
      "gpu:0,gpu:3,licence:0, the same with the fence of each in TURNO_RESOURCE_FENCES, and\n"
      "TURNO_STORE, TURNO_FENCE, TURNO_NODE and TURNO_SESSION.\n" +
      fmt::format(exit_statuses, "resources") +
      "\nExamples:\n  turno reserve gpu:2/8,licence:1/3 -- ./train\n"
      "  turno reserve tape --timeout 0 sh -c 'echo $TURNO_RESOURCES'\n");
  reserve.callback([&job, &command, options] {
    job = [&command, options] { return run_while_holding(*options, command); };
  });
}

}  // namespace turno::cli

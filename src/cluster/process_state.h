// What the kernel says of the process of a member on this machine. For people: nothing is decided
// by it, for a number may have been given to another process meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace turno::cluster {

enum class ProcessState : std::uint8_t {
  unknown,  // it cannot be seen
  running,  // or ready to, or asleep until something happens
  blocked,  // it waits for a disk or another device, and cannot be interrupted
  stopped,  // by SIGSTOP or a terminal
  traced,   // by a debugger
  dead,     // and not yet waited for by its parent
  gone
};

[[nodiscard]] ProcessState process_state(std::int64_t pid);
// "running", "stopped", ...
[[nodiscard]] std::string_view text_of(ProcessState state);
// The state with that text, or unknown.
[[nodiscard]] ProcessState process_state_named(std::string_view text);

// "node-1 (pid 123, stopped)"
[[nodiscard]] std::string describe_process(std::string_view name, std::int64_t pid,
                                           ProcessState state);
// What can be done about a member that does not answer, in half a sentence.
[[nodiscard]] std::string remedy(std::int64_t pid, ProcessState state);

}  // namespace turno::cluster

// Values as people read them on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/printable.h"

namespace turno::cli {

// "12 ms", "3.2 s", "2 min 5 s", "3 h 20 min", "2 d 4 h"
std::string readable(std::chrono::milliseconds time);

// "1 node", "3 nodes"
std::string counted(std::uint64_t count, std::string_view noun);

// Ready to be pasted into a shell.
std::string shell_word(std::string_view word);

// How this program was called, to be pasted into a shell.
std::string program();

}  // namespace turno::cli

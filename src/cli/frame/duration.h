// Times as people write them on a command line.
#pragma once

#include <chrono>
#include <string_view>

namespace turno::cli {

// "200ms", "1.5s", "2m", "1h", "1d"; a number alone is seconds. Throws UsageError; `option` is the
// name of what was wrong.
std::chrono::milliseconds parse_duration(std::string_view option, std::string_view text);

}  // namespace turno::cli

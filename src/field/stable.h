// What a crash leaves: values appended to a file, of which the last that is whole counts. A process
// may be killed while it writes one.
#pragma once

#include <string>
#include <string_view>

namespace turno::field {

// Throws std::system_error.
void keep_stable(int file, std::string_view value);
// Empty if there is none. What is not whole at the end is cut off, so that more can be kept after
// it. Throws std::system_error.
std::string last_stable(int file);

}  // namespace turno::field

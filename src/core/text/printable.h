// Names that others have chosen, for terminals and logs.
#pragma once

#include <string>
#include <string_view>

namespace turno {

// What others chose (the name of a lock or a client) may hold any bytes. What is no printable UTF-8
// becomes \xNN, so that it can neither move the cursor nor break a JSON document.
std::string printable(std::string_view text);

}  // namespace turno

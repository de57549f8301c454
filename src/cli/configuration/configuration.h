// The configuration file of a node: TOML, read strictly. What it does not know it refuses, and says
// where.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "port/declarations.h"

namespace turno::cli {

// `file` is named in errors ("FILE:3:1: ...") and in what the declarations say of themselves.
tl::expected<port::Declarations, std::string> parse_configuration(std::string_view text,
                                                                  const std::string& file);
tl::expected<port::Declarations, std::string> read_configuration(const std::string& file);

}  // namespace turno::cli

// The page that shows traces, as `make web` built it: one HTML file with all that it needs.
#pragma once

#include <string_view>

namespace turno::cli {

struct Page {
  std::string_view html;  // empty: the program was built without it
  // What the page may do: which scripts and styles run (by their hash), whom it may talk to.
  std::string_view policy;
};

Page page();

}  // namespace turno::cli

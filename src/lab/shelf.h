// The experiments that are built into the program: the files of experiments/.
#pragma once

#include <span>
#include <string_view>

namespace turno::lab {

struct Shelved {
  std::string_view name, text;
};
std::span<const Shelved> shelf();

}  // namespace turno::lab

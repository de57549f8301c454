// Splits "turno lock NAME --ttl 5s make -j 4" into what is for turno and the command to run. The
// parser of options cannot: everything behind the command's first word is the command's own, and a
// "--" in front of it is nobody's.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace turno::cli {

struct Words {
  std::vector<std::string> own;      // for the parser
  std::vector<std::string> command;  // to run
};

// `words` start with the name of a command of `app`. Those that run a command take one word of
// their own, a name; the others take all.
Words split_words(Command app, std::vector<std::string> words);

}  // namespace turno::cli

// Directed runs, each for what goes wrong in one order of events alone. A right cluster lives
// through all of them; one that lacks the rule does not, every time.
#pragma once

#include <span>
#include <string_view>

#include "run.h"
#include "scene.h"

namespace turno::torture {

struct Play {
  std::string_view name;
  std::string_view algorithm;
  Scenery scenery;
  void (*act)(Scene&);
};

std::span<const Play> plays();
// Nothing: there is no such play.
const Play* play_named(std::string_view name);

// Plays again, a few times, if it did not go as directed; a report of that if it never does.
Report perform(const Play& play, const Options& options);

}  // namespace turno::torture

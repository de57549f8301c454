// The runs that are finished, one a line, so that an experiment that was killed goes on where it
// was. The first line names the program that ran them: of another one nothing is taken over.
#pragma once

#include <string>
#include <string_view>

#include "lab/values.h"

namespace turno::lab {

std::string first_line(std::string_view program);
std::string log_line(const std::string& task, const Measured& measured);
// What a log says. A line that is not whole, the last one of a killed program, is left out; a log
// of another program has nothing.
Finished read_log(const std::string& text, std::string_view program);

}  // namespace turno::lab

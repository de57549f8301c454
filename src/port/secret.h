// What others cannot guess: whoever knows it may do something.
#pragma once

#include <string>
#include <string_view>

namespace turno::port {

// 128 random bits as 32 hexadecimal digits.
std::string random_secret();

// Takes equally long wherever they differ.
bool same_secret(std::string_view given, std::string_view known);

}  // namespace turno::port

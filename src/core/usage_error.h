#pragma once

#include <stdexcept>

namespace turno {

// The user asked for something impossible; the text says what is allowed.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace turno

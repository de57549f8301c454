// Reads JSON by another hand than the one that writes it.
#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace turno {

inline bool is_json(std::string_view text) {
  boost::json::error_code error;
  boost::json::parse({text.data(), text.size()}, error);
  return !error;
}

}  // namespace turno

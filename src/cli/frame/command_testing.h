// For tests: run the program as a user does.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <initializer_list>
#include <string>

namespace turno::testing {

struct Outcome {
  int status = 0;
  std::string output;  // standard output and standard error together
};

inline Outcome shell(const std::string& command) {
  auto* pipe = ::popen((command + " 2>&1").c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> buffer{};
  while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), got);
  const auto status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

inline Outcome turno(const std::string& arguments) {
  return shell(std::string(TURNO_BINARY) + " " + arguments);
}

inline boost::json::object parsed(const Outcome& outcome) {
  std::error_code error;
  auto value = boost::json::parse(outcome.output, error);
  EXPECT_FALSE(error) << outcome.output;
  return error ? boost::json::object() : value.as_object();
}

inline void expect_fields(const boost::json::object& object,
                          std::initializer_list<const char*> fields) {
  for (const auto* field : fields) EXPECT_TRUE(object.contains(field)) << field;
}

}  // namespace turno::testing

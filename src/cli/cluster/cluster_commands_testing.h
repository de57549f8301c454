// A cluster, and the commands around it as a user runs them: real processes, real sockets.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "registry/registry_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;  // as a shell would say it
  std::string output, errors;
};

class ClusterCommands : public ::testing::Test {
 protected:
  ~ClusterCommands() override { turno({"down", "--dir", directory(), "--kill-after", "1s"}); }

  [[nodiscard]] std::string directory() const { return folder_.path() / "cluster"; }
  [[nodiscard]] std::string contents(const std::string& file) const {
    std::ifstream in(folder_.path() / file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  [[nodiscard]] pid_t start(Words words, const std::string& name) const {
    words.insert(words.begin(), TURNO_BINARY);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string out = folder_.path() / (name + ".out"),
                      err = folder_.path() / (name + ".err");
    const auto pid = ::fork();
    if (pid != 0) return pid;
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(99);
  }
  [[nodiscard]] Outcome finish(pid_t pid, const std::string& name) const {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            contents(name + ".out"), contents(name + ".err")};
  }
  Outcome turno(const Words& words) const { return finish(start(words, "command"), "command"); }
  // A command about this cluster.
  [[nodiscard]] Outcome here(Words words) const {
    words.insert(words.end(), {"--dir", directory()});
    return turno(words);
  }
  [[nodiscard]] json::object parsed(Words words) const {
    words.emplace_back("--json");
    const auto outcome = here(words);
    EXPECT_THAT(outcome.status, ::testing::AnyOf(0, 2)) << outcome.errors;
    std::error_code error;
    auto value = json::parse(outcome.output, error);
    EXPECT_FALSE(error) << outcome.output;
    return error ? json::object() : value.as_object();
  }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> all;
    const auto answer = parsed({"members"});
    for (const auto& member : answer.at("members").as_array())
      all.push_back(static_cast<pid_t>(member.at("pid").as_int64()));
    return all;
  }
  [[nodiscard]] std::unique_ptr<Client> client_of(const std::string& node,
                                                  const std::string& name) const {
    auto client = Client::connect(directory() + "/" + node + ".sock", {.name = name});
    EXPECT_TRUE(client) << client.error().message;
    return std::move(*client);
  }

  template <class Condition>
  static bool eventually(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return condition();
  }
  static bool alive(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(in, line);
    return in && line.find(") Z") == std::string::npos;
  }

  const registry::TemporaryDirectory folder_;
};

}  // namespace
}  // namespace turno

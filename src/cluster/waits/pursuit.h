// Follows the waits from session to session until those are known that can never go on.
//
// As the probes of Chandy, Misra and Haas ("Distributed deadlock detection", 1983) do, questions go
// along the waits, and only for who waits and has something. But nobody knows who has a thing, so
// each question goes to all members, and they answer to who began: as in these authors' algorithm
// for processes that wait for any of several. What was heard at different moments may show a
// deadlock that never was. So everything that would be a part of one is asked for again, and only
// what is still so is believed: all of it was true when the second question was put.
//
// Assumes nothing of the order of messages. An answer that is lost makes a deadlock be found later,
// by the next pursuit. Messages: 2(N-1) for each wait along the longest way, and for the second
// question.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "cluster/waits/tangle.h"

namespace turno::cluster {

class Pursuit {
 public:
  using Without = Tangle::Without;
  static constexpr std::size_t most_things = 256;     // in one question
  static constexpr std::size_t most_sessions = 2048;  // then what is known must do
  static constexpr std::size_t most_questions = 128;  // the same

  // Begins with sessions that wait, or with things.
  explicit Pursuit(const std::vector<Testimony>& waiting, Without without = Without::none);
  explicit Pursuit(const std::set<NamedThing>& things) : begins_with_things_(true) { ask(things); }
  // Then everybody who has something is to be told of, also who waits for nothing.
  [[nodiscard]] bool begins_with_things() const { return begins_with_things_; }

  // What all members are to be asked about now: which sessions have it? None: it is over.
  [[nodiscard]] const std::vector<NamedThing>& question() const { return question_; }
  [[nodiscard]] bool over() const { return question_.empty(); }
  // What they have answered, or those of them that have answered in time.
  void hear(const std::vector<Testimony>& answers);

  // When it is over: of whom it is certain that they could not go on at one moment.
  [[nodiscard]] const Tangle& certain() const { return certain_; }
  // Everybody who was met, as they were when they were met.
  [[nodiscard]] const Tangle& met() const { return met_; }

 private:
  void ask(const std::set<NamedThing>& things);
  void go_on();

  Without without_ = Without::none;
  Tangle met_, certain_;
  std::set<NamedThing> asked_;
  std::vector<NamedThing> question_;
  std::size_t questions_ = 0;
  bool confirming_ = false, begins_with_things_ = false;
};

}  // namespace turno::cluster

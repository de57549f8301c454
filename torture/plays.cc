#include "plays.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace turno::torture {

namespace {

using namespace std::chrono_literals;

// Long enough for what is sent over fast lines, on a busy machine.
constexpr auto a_moment = 100ms;

// ---- views

// The report of one who is inside comes late, when others ask.
void slow_report(Scene& scene) {
  scene.ask(1);
  scene.wait_for(1);
  scene.ask(0);
  scene.remove(2);
  scene.pass(700ms + a_moment);
  scene.finish();
}

// A token is on its way from 0 to 1 when the view changes, and comes when 0 is inside again.
constexpr auto token_time = 1200ms;
void late_token(Scene& scene) {
  scene.ask(0);
  scene.wait_for(0);
  scene.ask(1);
  scene.pass(token_time + 2 * a_moment);
  const auto sent = now_ns();
  scene.leave(0);
  scene.ask(0);
  scene.remove(2);
  scene.in_time(sent, token_time - 2 * a_moment);
  scene.wait_for(0);
  scene.pass(token_time + a_moment);
  scene.finish();
}

// A lock is used, forgotten, used, and used in another view.
void used_again(Scene& scene) {
  const auto use = [&] {
    scene.ask(1);
    scene.wait_for(1);
    scene.leave(1);
  };
  use();
  scene.pass(300ms);
  use();
  use();
  scene.remove(2);
  use();
  scene.finish();
}

// 1 reports that it is inside, and long after that it has nothing else. In between 0 has found the
// lock idle and wants to forget it.
constexpr auto between_reports = 400ms;
void late_reported(Scene& scene) {
  scene.attempt(1);  // with one answer: the lock is forgotten more often than others come
  scene.wait_for(1);
  scene.ask(0);
  scene.remove(2);
  scene.pass(4 * between_reports);
  scene.finish();
}

// One who is inside leaves after it has reported and before there is an instance again.
constexpr auto opened_time = 800ms;
void leaving_between(Scene& scene) {
  scene.attempt(1);
  scene.wait_for(1);
  scene.ask(0);
  scene.pass(a_moment);
  const auto began = now_ns();
  scene.remove(2);
  scene.in_time(began, opened_time - 2 * a_moment);
  scene.leave(1);
  scene.finish();
}

// A node dies whose client lives on, and nobody asks until all is quiet again.
constexpr auto long_delay = 2000ms;
void dead_holder(Scene& scene) {
  scene.ask(1);
  scene.wait_for(1);
  const auto killed = now_ns();
  scene.kill(1);
  scene.pass(3 * a_moment);
  scene.ask(2);
  scene.in_time(killed, long_delay - 5 * a_moment);
  scene.pass(3 * a_moment);
  scene.finish();
}

// One leads and resigns, and its news come to another node when the next one leads.
constexpr auto news_time = 500ms;
void late_news(Scene& scene) {
  scene.observe();
  scene.pass(a_moment);
  const auto began = now_ns();
  scene.ask(1);
  scene.wait_for(1);
  scene.leave(1);
  scene.ask(0);
  scene.wait_for(0);
  scene.pass(a_moment);
  scene.in_time(began, news_time - a_moment);
  scene.pass(news_time + a_moment);
  scene.finish();
}

// ---- users

void first_use(Scene& scene) {
  scene.ask(1);
  scene.finish();
}

// The turn of one who gave up comes to nobody.
void given_up(Scene& scene) {
  scene.ask(0);
  scene.wait_for(0);
  scene.ask(1);
  scene.pass(a_moment);
  scene.give_up(1);
  scene.leave(0);
  scene.pass(a_moment);
  scene.ask(2);
  scene.finish();
}

// One of two clients of node 1 tries, and is told late to go on: the other one is inside by then,
// with the votes of 1 and 2. In the end another node asks for the vote of 2.
constexpr auto answer_time = 500ms;
constexpr std::uint32_t second_of_1 = 3;
void overtaken_try(Scene& scene) {
  scene.ask(1);  // node 1 takes part, and its home knows of nobody inside
  scene.wait_for(1);
  scene.leave(1);
  scene.pass(a_moment);
  const auto tried = now_ns();
  scene.attempt(1);
  scene.ask(second_of_1);
  scene.wait_for(second_of_1);
  scene.in_time(tried, answer_time - a_moment);
  scene.pass(answer_time + a_moment);
  scene.ask(2);
  scene.finish();
}

// ---- algorithms

// 0 asks 1, which does not know it yet, asks for the lock itself and must not ask 0.
constexpr auto request_time = 800ms;
void crossing_requests(Scene& scene) {
  scene.attempt(1);  // born with 1 inside, so that 0 asks 1
  scene.wait_for(1);
  const auto asked = now_ns();
  scene.ask(0);
  scene.leave(1);
  scene.ask(2);
  scene.wait_for(2);
  scene.leave(2);
  scene.ask(1);
  scene.in_time(asked, request_time - a_moment);
  scene.pass(request_time);
  scene.finish();
}

// 2 and 3 hand the lock to each other, over a slow line, and ask for it by way of 0; 1 asks 2.
constexpr auto hand_over_time = 300ms, behind_the_token = 150ms;
constexpr std::uint32_t third = 1;
constexpr std::uint64_t fair_overtakings = 8;  // right clusters were seen to need 4
const Scenery two_and_a_third{
    .nodes = 4,
    .lines = {line(2, 3, hand_over_time, behind_the_token),
              line(3, 2, hand_over_time, behind_the_token)},
    .eager = false,  // who asks ahead is never without a claim, and takes the third one's with it
    .most_overtakings = fair_overtakings,
    .patience = 20s};

// To where 2 is inside, 3 waits, and both know that 0 knows more than they do.
void set_up_two(Scene& scene) {
  scene.attempt(2);
  scene.wait_for(2);
  scene.ask(0);
  scene.pass(a_moment);
  scene.leave(2);
  scene.wait_for(0);
  scene.ask(3);
  scene.pass(hand_over_time + a_moment);
  scene.ask(2);
  scene.pass(a_moment);
  scene.leave(0);
  scene.wait_for(3);
  scene.leave(3);
  scene.pass(a_moment);
  scene.ask(3);
  scene.wait_for(2);
}

void alternate(Scene& scene, std::chrono::milliseconds pause) {
  std::array left{now_ns(), now_ns()};
  for (std::uint64_t turns = 0; turns <= fair_overtakings + 1 && !scene.inside(third);) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      const auto node = 2 + i;
      if (scene.inside(node)) {
        scene.leave(node);
        left[i] = now_ns();
        ++turns;
      } else if (!scene.waits(node) &&
                 now_ns() - left[i] >= std::chrono::nanoseconds(pause).count()) {
        scene.ask(node);
      }
    }
    scene.pass(1ms);
  }
}

// The request of the third goes behind the token, and always comes where that has just left.
void chase(Scene& scene) {
  set_up_two(scene);
  scene.leave(2);
  scene.ask(third);
  alternate(scene, behind_the_token + 140ms);  // it has passed by then, and is not there yet
  scene.finish();
}

// The claim of the third is carried by the token, and those who absorb each other's go first.
void carried_claim(Scene& scene) {
  set_up_two(scene);
  scene.ask(third);
  scene.pass(a_moment);
  scene.leave(2);
  alternate(scene, a_moment);
  scene.finish();
}

const std::vector<Play>& all() {
  static const std::vector<Play> plays = {
      {"slow-report", "nxr-bh", {.lines = {line(1, 0, 700ms)}}, slow_report},
      {"late-token", "nxr-bh", {.lines = {line(0, 1, token_time)}, .patience = 2s}, late_token},
      {"used-again", "nxr-bh", {.idle = 50ms}, used_again},
      {"late-reported",
       "nxr-bh",
       {.lines = {line(1, 0, 0ms, between_reports)}, .idle = 100ms, .patience = 2s},
       late_reported},
      {"leaving-between",
       "nxr-bh",
       {.lines = {line(0, 1, opened_time)}, .patience = 1500ms},
       leaving_between},
      {"dead-holder", "nxr-bh", {.lock_delay = long_delay, .patience = 2500ms}, dead_holder},
      {"dead-permit",
       "nxr-bh",
       {.lock_delay = long_delay, .kind = Scenery::Kind::permit, .patience = 2500ms},
       dead_holder},
      {"dead-visitor",
       "nxr-bh",
       {.lock_delay = long_delay, .kind = Scenery::Kind::room, .patience = 2500ms},
       dead_holder},
      {"dead-leader",
       "nxr-bh",
       {.lock_delay = long_delay, .kind = Scenery::Kind::election, .patience = 2500ms},
       dead_holder},
      {"slow-visitor",
       "nxr-bh",
       {.lines = {line(1, 0, 700ms)}, .kind = Scenery::Kind::room, .patience = 2s},
       slow_report},
      {"late-news",
       "nxr-bh",
       {.lines = {line(1, 2, news_time)}, .kind = Scenery::Kind::election},
       late_news},
      {"first-use", "ricart-agrawala", {}, first_use},
      {"given-up", "nxr-bh", {}, given_up},
      {"overtaken-try",
       "maekawa",
       {.lines = {line(0, 1, answer_time)}, .second_clients = {1}},
       overtaken_try},
      {"crossing-requests",
       "nxr-bh",
       {.lines = {line(0, 1, request_time)}, .patience = 1500ms},
       crossing_requests},
      {"chase", "nxr-bh", two_and_a_third, chase},
      {"carried-claim", "nxr-bh", two_and_a_third, carried_claim},
  };
  return plays;
}

}  // namespace

std::span<const Play> plays() { return all(); }

const Play* play_named(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Play::name);
  return found == all().end() ? nullptr : &*found;
}

Report perform(const Play& play, const Options& options) {
  std::string why;
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto again = options;
    again.node.directory /= std::to_string(attempt);
    try {
      Scene scene(again, play.scenery);
      play.act(scene);
      return scene.conclude();
    } catch (const Misplayed& misplayed) {
      why = misplayed.what();
    }
  }
  return {.misplayed = why};
}

}  // namespace turno::torture

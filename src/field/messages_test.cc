// Real processes send as many messages as simulated ones, whatever the algorithm.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "field/field_testing.h"
#include "field/run.h"
#include "protocols/deadlock/central_detector.h"
#include "protocols/kmutex/robust_k.h"

namespace turno::field {
namespace {

using testing::ms;

std::vector<std::string> names(bool with_users) {
  std::vector<std::string> names;
  for (const auto& algorithm : algorithms())
    if (has_users(algorithm.info.primitive) == with_users) names.emplace_back(algorithm.info.name);
  return names;
}
std::string as_name(const ::testing::TestParamInfo<std::string>& info) {
  auto name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

// Everybody always competes, so that what a request costs hardly depends on when it comes: not on
// the seed, and not on how late a busy machine wakes a process.
sim::Options crowded(const Info& info) {
  auto options = testing::system(info);
  options.arrivals = sim::parse_arrivals("closed:2ms");
  options.hold = sim::Distribution::constant(4 * ms);
  options.delay = sim::Distribution::uniform(1 * ms, 3 * ms);
  options.entries = 150;
  if (info.primitive == Primitive::reservation)
    options.wish = [](NodeId, Random&) { return Wish{.needs = {{0, 2}, {1, 2}}}; };
  // Repeats what is late, and how late a busy machine is nobody knows.
  options.setup.configure<protocols::RobustK::Config>().acknowledge_within_ns = 10'000 * ms;
  return options;
}

// Of one entry, in each of ten simulated runs: the fewest and the most.
std::pair<double, double> simulated(const std::string& name) {
  const auto& algorithm = *find_algorithm(name);
  auto options = crowded(algorithm.info);
  std::vector<double> runs;
  for (options.seed = 2; options.seed < 12; ++options.seed)
    runs.push_back(algorithm.simulate(options).messages_per_entry());
  const auto [least, most] = std::ranges::minmax(runs);
  return {least, most};
}

class Messages : public ::testing::TestWithParam<std::string> {};

TEST_P(Messages, OfAnEntryAreAsManyAsSimulated) {
  const auto options = crowded(find_algorithm(GetParam())->info);
  const auto real = run(*find_cast(GetParam()), options, {}).result;
  EXPECT_EQ(real.violation, "");
  EXPECT_EQ(real.entries, options.entries);
  // 5 %, and what the ten seeds differ by.
  const auto [least, most] = simulated(GetParam());
  EXPECT_GE(real.messages_per_entry(), least * 0.95);
  EXPECT_LE(real.messages_per_entry(), most * 1.05);
  EXPECT_LT(most, least * 1.25) << "the comparison would say nothing";
}
TEST(Canary, OneAlgorithmDoesNotPassForAnother) {
  const auto real = run(*find_cast("raymond"), crowded(find_algorithm("raymond")->info), {}).result;
  EXPECT_GT(real.messages_per_entry(), simulated("raymond-piggyback").second * 1.05);
}
INSTANTIATE_TEST_SUITE_P(Of, Messages, ::testing::ValuesIn(names(true)), as_name);

std::uint64_t of_kind(const sim::Result& result, std::string_view wanted) {
  for (const auto& [kind, count] : result.messages_by_kind)
    if (kind == wanted) return count;
  ADD_FAILURE() << "no messages are called " << wanted;
  return 0;
}

// What has no users ends with a goal; how often nodes ask in between, and who waits for whom, is a
// matter of chance. The rest is the same to the message.
class Goal : public ::testing::TestWithParam<std::string> {};

TEST_P(Goal, TakesAsManyMessagesAsSimulated) {
  const auto& algorithm = *find_algorithm(GetParam());
  auto options = testing::system(algorithm.info);
  std::vector<std::string> kinds = {"request"};
  if (algorithm.info.primitive == Primitive::election) {
    kinds = {"election", "coordinator"};
    auto& config = options.setup.configure<protocols::ElectionConfig>();
    config.patience = {
        .answer_within_ns = 300 * ms, .finish_within_ns = 3'000 * ms, .ask_every_ns = 50 * ms};
    config.watchers.insert(NodeId{0});
    options.until = 1'500 * ms;
  }
  options.setup.configure<protocols::CentralDetector::Config>() = {.waits = 3, .resources = 1};
  const auto simulated = algorithm.simulate(options);
  const auto real = run(*find_cast(GetParam()), options, {}).result;
  EXPECT_EQ(real.violation, "");
  for (const auto& kind : kinds) {
    EXPECT_GT(of_kind(simulated, kind), 0U) << kind;
    EXPECT_EQ(of_kind(real, kind), of_kind(simulated, kind)) << kind;
  }
}
INSTANTIATE_TEST_SUITE_P(Of, Goal, ::testing::ValuesIn(names(false)), as_name);

}  // namespace
}  // namespace turno::field

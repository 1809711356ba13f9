// The queue protocol under seeded schedules, against a drive that forgives nothing.
#include <gtest/gtest.h>

#include "tests/support/queue_scenario.h"
#include "tests/support/schedules.h"

namespace sluice::tests {
namespace {

class queue_schedules : public ::testing::TestWithParam<std::size_t> {};

TEST_P(queue_schedules, hold) {
  const auto failure =
      explore_scenario(all_scenarios()[GetParam()], first_seed(), schedules_each(all_scenarios().size()));
  EXPECT_FALSE(failure) << *failure;
}

INSTANTIATE_TEST_SUITE_P(in_which, queue_schedules, ::testing::Range<std::size_t>(0, all_scenarios().size()),
                         [](const auto& info) { return std::string(all_scenarios()[info.param].name); });

}  // namespace
}  // namespace sluice::tests

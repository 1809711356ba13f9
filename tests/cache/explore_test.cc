// The cache under seeded schedules: every scenario, three policies, and oracles that look after each step.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/cache/scenarios.h"
#include "tests/support/schedules.h"

namespace sluice::cache {
namespace {

class explored : public ::testing::TestWithParam<std::size_t> {};

TEST_P(explored, keeps_its_promises_under_every_schedule) {
  const scenarios::scenario& what = scenarios::all()[GetParam()];
  const std::uint64_t schedules = tests::schedules_each(scenarios::all().size());
  for (const auto how :
       {lane::explore::policy::random, lane::explore::policy::one_in_eight, lane::explore::policy::pct}) {
    for (std::uint64_t k = 0; k < schedules; ++k) {
      const std::uint64_t seed = tests::first_seed() + k;
      ASSERT_EQ(scenarios::run(what, how, seed), "") << lane::explore::to_string(how) << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(scenarios, explored, ::testing::Range<std::size_t>(0, scenarios::all().size()),
                         [](const auto& info) { return std::string(scenarios::all()[info.param].name); });

}  // namespace
}  // namespace sluice::cache

// Elements of the cache are linearizable, and a flush puts them into the store: histories of every scenario,
// under seeded schedules.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/cache/linear_world.h"
#include "tests/support/schedules.h"

namespace sluice::cache {
namespace {

class explored_histories : public ::testing::TestWithParam<std::size_t> {};

TEST_P(explored_histories, are_explained) {
  using lane::explore::policy;
  const linear::scenario& what = linear::all()[GetParam()];
  const std::uint64_t schedules = tests::schedules_each(linear::all().size());
  for (const policy how : {policy::random, policy::one_in_eight, policy::pct}) {
    for (std::uint64_t k = 0; k < schedules; ++k) {
      const std::uint64_t seed = tests::first_seed() + k;
      ASSERT_EQ(what.run(what, how, seed), "") << lane::explore::to_string(how) << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(scenarios, explored_histories,
                         ::testing::Range<std::size_t>(0, linear::all().size()),
                         [](const auto& info) { return std::string(linear::all()[info.param].name); });

}  // namespace
}  // namespace sluice::cache

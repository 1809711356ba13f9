// A volume as a source of pages, under seeded schedules. The commands of a page once shared one hint, that of
// the last: a lane that waited alone for the page never looked at the others.
#include "sluice/array/volume_store.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/array/store_world.h"
#include "tests/support/schedules.h"

namespace sluice {
namespace {

class volume_store_schedules : public ::testing::TestWithParam<std::size_t> {};

TEST_P(volume_store_schedules, all_keep_its_promises) {
  using lane::explore::policy;
  const testing::store_scenario& what = testing::store_scenarios()[GetParam()];
  const std::uint64_t schedules = tests::schedules_each(4 * testing::store_scenarios().size());
  for (const policy how : {policy::random, policy::one_in_eight, policy::pct}) {
    for (std::uint64_t k = 0; k < schedules; ++k) {
      const std::uint64_t seed = tests::first_seed() + k;
      testing::store_world w(what);
      ASSERT_EQ(w.run(how, seed), "") << lane::explore::to_string(how) << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(scenarios, volume_store_schedules,
                         ::testing::Range<std::size_t>(0, testing::store_scenarios().size()),
                         [](const auto& info) {
                           return std::string(testing::store_scenarios()[info.param].name);
                         });

}  // namespace
}  // namespace sluice

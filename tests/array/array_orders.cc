// Memory orders by which a page that has come is checked, each weakened in turn: ThreadSanitizer must report
// the race of the check's plain reads with the bytes that came before, or come after.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/array/store_world.h"

namespace sluice::testing {
namespace {

constexpr int reported = 66;  // ThreadSanitizer's exit status
constexpr std::uint64_t most_schedules = 300;

/// Runs in a process of its own, since a report makes that process fail.
void explore_with(const char* fault) {
  using lane::explore::policy;
  lane::plant(fault);
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed)
    for (const store_scenario& what : store_scenarios())
      for (const policy how : {policy::random, policy::one_in_eight, policy::pct})
        if (what.sealed) store_world(what).run(how, seed);
  std::exit(0);
}

class array_order : public ::testing::TestWithParam<const char*> {};

TEST_P(array_order, is_needed) {
  setenv("TSAN_OPTIONS", "halt_on_error=1:symbolize=0", 1);  // for that process
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(explore_with(GetParam()), ::testing::ExitedWithCode(reported), "data race") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(orders, array_order, ::testing::Values("cache.arrived", "cache.checked"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

}  // namespace
}  // namespace sluice::testing

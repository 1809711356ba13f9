// Memory orders of the cache that order plain bytes, each weakened in turn: ThreadSanitizer must report the
// race. The others hand over words only, which are atomic: for those see tests/litmus/cache.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/cache/scenarios.h"

namespace sluice::cache {
namespace {

constexpr int reported = 66;  // ThreadSanitizer's exit status
constexpr std::uint64_t most_schedules = 300;

/// Runs in a process of its own, since a report makes that process fail.
void explore_with(const char* fault) {
  using lane::explore::policy;
  lane::plant(fault);
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed)
    for (const scenarios::scenario& what : scenarios::all())
      for (const auto how : {policy::random, policy::one_in_eight, policy::pct})
        scenarios::run(what, how, seed);
  std::exit(0);
}

class cache_order : public ::testing::TestWithParam<const char*> {};

TEST_P(cache_order, is_needed) {
  setenv("TSAN_OPTIONS", "halt_on_error=1:symbolize=0", 1);  // for that process
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(explore_with(GetParam()), ::testing::ExitedWithCode(reported), "data race") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(orders, cache_order,
                         ::testing::Values("cache.release_hold", "cache.start_writing", "cache.take",
                                           "cache.unpin", "cache.moved", "cache.tier_drained",
                                           "cache.tier_filled", "cache.tier_start"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

}  // namespace
}  // namespace sluice::cache

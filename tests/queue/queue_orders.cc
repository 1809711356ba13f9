// Memory orders of the queue that order plain bytes, each weakened in turn: ThreadSanitizer must report the
// race. The others hand over words only, which are atomic: for those see tests/litmus/queue. That nothing is
// reported with all orders as they are is what queue_schedules_test.cc says in the same preset.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/support/queue_scenario.h"

namespace sluice::tests {
namespace {

constexpr int reported = 66;  // ThreadSanitizer's exit status
constexpr std::uint64_t most_schedules = 300;

/// Runs in a process of its own, since a report makes that process fail.
void explore_with(const char* fault) {
  lane::plant(fault);
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed)
    for (const scenario& what : all_scenarios()) explore_scenario(what, seed, 1);
  std::exit(0);
}

class queue_order : public ::testing::TestWithParam<const char*> {};

TEST_P(queue_order, is_needed) {
  setenv("TSAN_OPTIONS", "halt_on_error=1:symbolize=0", 1);  // for that process
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(explore_with(GetParam()), ::testing::ExitedWithCode(reported), "data race") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(orders, queue_order,
                         ::testing::Values("queue.claim", "queue.report", "queue.free", "queue.lock",
                                           "queue.unlock", "queue.phase", "queue.status", "queue.mark",
                                           "queue.pending", "queue.turn", "queue.handover", "queue.tail_scan",
                                           "queue.deleted", "queue.attention"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

}  // namespace
}  // namespace sluice::tests

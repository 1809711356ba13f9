// Protocol steps of the queue, each dropped in turn: a schedule must be found that shows the loss. The memory
// orders' mutants are in tests/litmus/queue, since the explorer's schedules are sequentially consistent.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/lane/mutant.h"
#include "tests/support/queue_scenario.h"

namespace sluice::tests {
namespace {

constexpr std::uint64_t most_schedules = 6000;

/// The first wrong thing that any scenario shows with the fault in force, or nothing.
std::string found() {
  for (std::uint64_t seed = 1; seed <= most_schedules; ++seed) {
    for (const scenario& what : all_scenarios()) {
      const std::optional<std::string> why = explore_scenario(what, seed, 1);
      if (why) return std::string(what.name) + ": " + *why;
    }
  }
  return {};
}

class queue_mutant : public ::testing::TestWithParam<const char*> {
 protected:
  ~queue_mutant() override { lane::plant(""); }
};

TEST_P(queue_mutant, is_caught) {
  lane::plant(GetParam());
  const std::string why = found();
  EXPECT_NE(why, "") << GetParam() << " survived";
  RecordProperty("caught_by", why);
}

INSTANTIATE_TEST_SUITE_P(
    steps, queue_mutant,
    ::testing::Values(
        // submitting
        "queue.batch_of_whole_ring", "queue.skip_turn", "queue.skip_next_slot", "queue.idle_turn_wait",
        "queue.combine_once", "queue.tail_not_kept", "queue.ring_unwrapped", "queue.ring_past_others",
        // completing
        "queue.wait_without_reaping", "queue.reap_without_lock", "queue.keep_entries",
        "queue.phase_of_first_life", "queue.publish_unasked", "queue.publish_by_store", "queue.claim_twice",
        "queue.free_first", "queue.lost_is_ok", "queue.leave_to_waiters", "queue.any_turns_answer",
        // failing
        "queue.no_deadline", "queue.fail_answered", "queue.fail_old_life", "queue.close_first",
        "queue.enter_closed", "queue.stay_when_closed", "queue.no_arrival", "queue.leave_without_arrival",
        // coming back
        "queue.recover_before_arrivals", "queue.recover_before_ringing", "queue.forget_first",
        "queue.no_quarantine", "queue.lost_only_while_deleted", "queue.old_completions",
        "queue.same_turn_again", "queue.open_first", "queue.stay_deleted", "queue.attention_late",
        "queue.old_life_in_the_way"),
    [](const auto& info) { return std::string(info.param).substr(6); });

}  // namespace
}  // namespace sluice::tests

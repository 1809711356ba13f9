// The queue protocol under seeded schedules, against a drive that forgives nothing.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/queue_scenario.h"

namespace sluice::tests {
namespace {

/// Seeds a policy; CI's budget is set by the environment, so that a night can be spent on it too.
std::uint64_t seeds(std::uint64_t otherwise) {
  const char* text = std::getenv("SLUICE_SCHEDULES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void holds(const scenario& what, std::uint64_t count = 500) {
  const auto failure = explore_scenario(what, seeds(count));
  EXPECT_FALSE(failure) << *failure;
}

TEST(queue_schedules, lanes_alone_on_the_smallest_ring) {
  holds({.depth = 2, .warps = 3, .lanes = 1, .team = false});
}

TEST(queue_schedules, lanes_of_one_warp_act_alone) {
  holds({.depth = 4, .warps = 1, .lanes = 4, .team = false});
}

TEST(queue_schedules, teams_share_a_ring) { holds({.depth = 4, .warps = 3, .lanes = 2}); }

TEST(queue_schedules, a_team_larger_than_the_ring_goes_in_batches) {
  holds({.depth = 4, .warps = 2, .lanes = 7, .rounds = 1});
}

TEST(queue_schedules, staged_bytes_reach_their_lane) {
  holds({.depth = 4, .warps = 2, .lanes = 3, .drive = {.frames_reachable = false}});
}

TEST(queue_schedules, writes_send_what_was_written) {
  holds({.depth = 4, .warps = 2, .lanes = 3, .writes = true});
  holds({.depth = 4, .warps = 2, .lanes = 3, .writes = true, .drive = {.frames_reachable = false}});
}

TEST(queue_schedules, turns_wrap) {
  holds({.depth = 2, .warps = 2, .lanes = 1, .rounds = 6, .team = false, .first_turn = 0xfffffffeU});
  holds({.depth = 4, .warps = 2, .lanes = 2, .rounds = 6, .first_turn = 0xffffffffU});
}

TEST(queue_schedules, commands_nobody_waits_for_hold_up_nobody) {
  holds({.depth = 2, .warps = 2, .lanes = 1, .rounds = 4, .team = false, .leaves_early = true});
}

TEST(queue_schedules, the_drives_status_arrives_as_it_is) {
  holds({.depth = 4, .warps = 2, .lanes = 2, .drive = {.answer = status::from_nvme(0x281)}});
}

TEST(queue_schedules, a_lost_command_fails_its_queue_and_the_queue_comes_back) {
  for (std::int64_t which = 0; which < 4; ++which)
    holds({.depth = 2, .warps = 2, .lanes = 1, .team = false, .may_lose = true, .drive = {.lose = which}},
          200);
  holds({.depth = 4, .warps = 2, .lanes = 2, .may_lose = true, .drive = {.lose = 1}}, 200);
}

TEST(queue_schedules, queues_lost_over_and_over_come_back) {
  holds({.depth = 4, .warps = 2, .lanes = 2, .rounds = 3, .may_lose = true, .drive = {.lose_every = 3}}, 200);
}

TEST(queue_schedules, no_staged_memory_of_an_unanswered_command_is_reused) {
  holds({.depth = 4,
         .warps = 2,
         .lanes = 2,
         .may_lose = true,
         .drive = {.frames_reachable = false, .lose_every = 4}},
        200);
}

TEST(queue_schedules, a_drive_that_answers_twice_loses_its_queue_not_our_data) {
  holds({.depth = 4, .warps = 2, .lanes = 2, .may_lose = true, .drive = {.duplicate_id_at = 2}}, 200);
}

}  // namespace
}  // namespace sluice::tests

// How many warps add, and how far ahead they ask.
#include "apps/vector_add/add_plan.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice::vector_add {
namespace {

/// What the plan's warps may have on its way in at once.
std::uint64_t on_its_way(const add_plan& plan) { return plan.warps * frames_of_warp(plan.run); }

TEST(add_plan, keeps_to_a_quarter_of_the_cache_and_half_of_the_queues) {
  for (const bool on_gpu : {false, true})
    for (std::uint64_t frames = 2; frames < (1U << 24); frames = frames * 3 / 2 + 1)
      for (const std::uint64_t commands : {2, 16, 4096, 1 << 20}) {
        const add_plan plan =
            plan_for({.frames = frames, .commands = commands, .resident_warps = 4224, .on_gpu = on_gpu}, 0);
        EXPECT_GE(plan.warps, 1U);
        EXPECT_GE(plan.run, 1U);
        EXPECT_LE(plan.run, 32U) << "each lane asks for one page";
        if (!plan.ahead) continue;
        EXPECT_LE(on_its_way(plan), frames / 4);
        EXPECT_LE(on_its_way(plan), commands / 2);
      }
}

TEST(add_plan, asks_ahead_wherever_there_is_room_for_one_warp) {
  EXPECT_FALSE(plan_for({.frames = 16, .commands = 4096, .resident_warps = 8}, 0).ahead);
  EXPECT_TRUE(plan_for({.frames = 20, .commands = 4096, .resident_warps = 8}, 0).ahead);
}

TEST(add_plan, takes_the_warps_that_are_wanted_and_fit_the_machine) {
  const add_ground ground{.frames = 1 << 20, .commands = 1 << 20, .resident_warps = 4224, .on_gpu = true};
  EXPECT_EQ(plan_for(ground, 100).warps, 100U);
  EXPECT_EQ(plan_for(ground, 100'000).warps, 4224U);
  EXPECT_TRUE(plan_for(ground, 100'000).ahead);
  const add_ground small{.frames = 64, .commands = 1 << 20, .resident_warps = 4224, .on_gpu = true};
  EXPECT_EQ(plan_for(small, 1000).warps, 1000U);
  EXPECT_FALSE(plan_for(small, 1000).ahead);
}

}  // namespace
}  // namespace sluice::vector_add

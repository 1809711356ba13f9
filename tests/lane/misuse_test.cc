// The executor is stricter than a GPU: what would hang or corrupt there is an error here, and says which lane
// did it.
#include <gtest/gtest.h>

#include <stdexcept>

#include "sluice/lane/atomic.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "tests/support/refusal.h"

namespace sluice::lane {
namespace {

template <class Body>
test::refusal refusal_of_kernel(const Body& body, grid shape = {1, 32}) {
  const auto cpu = machine::cpu(2);
  return test::refusal_of([&] { launch(*cpu, shape, body); });
}

void expect_named(const test::refusal& told, const char* what) {
  EXPECT_EQ(told.kind, error_kind::io_failure);
  EXPECT_NE(told.line.find(what), std::string::npos) << told.line;
}

TEST(misuse, of_a_mask_that_names_a_lane_that_has_left) {
  expect_named(refusal_of_kernel([] {
                 if (lane_index() == 3) return;
                 for (int i = 0; i < 100; ++i) executor::relax();
                 warp_team::whole().sync();
               }),
               "which names lanes that have left: 0x00000008");
}

TEST(misuse, of_a_lane_that_leaves_while_others_wait_for_it) {
  expect_named(refusal_of_kernel([] {
                 if (lane_index() != 5) return warp_team::whole().sync();
                 for (int i = 0; i < 100; ++i) executor::relax();
               }),
               "lane 5 (thread 5 of block 0) left while lanes wait for it in a sync of mask 0xffffffff");
}

TEST(misuse, of_a_mask_that_does_not_name_its_caller) {
  expect_named(refusal_of_kernel([] {
                 if (lane_index() == 7) warp_team(0x3).ballot(true);
               }),
               "lane 7 (thread 7 of block 0) calls ballot under mask 0x00000003, which does not name it");
}

TEST(misuse, of_two_collectives_under_one_mask) {
  expect_named(refusal_of_kernel([] {
                 const warp_team all = warp_team::whole();
                 if (lane_index() == 0)
                   all.sync();
                 else
                   all.ballot(true);
               }),
               "calls ballot where others of mask 0xffffffff call sync");
}

TEST(misuse, of_a_shuffle_from_outside_the_mask) {
  expect_named(refusal_of_kernel([] {
                 if (lane_index() < 2) executor::meet(executor::collective::shuffle, 0x3, 1, 2);
               }),
               "reads from lane 2 outside mask 0x00000003");
}

TEST(misuse, of_collectives_that_can_never_meet) {
  expect_named(refusal_of_kernel([] {
                 if (lane_index() == 0)
                   warp_team(0x3).sync();
                 else if (lane_index() == 1)
                   sync_block();
               }),
               "no progress: every lane waits");
}

TEST(misuse, of_a_block_shape_that_no_machine_has) {
  const auto cpu = machine::cpu(1);
  for (const std::uint32_t lanes : {0U, 33U, 1056U}) {
    const auto told = test::refusal_of([&] { launch(*cpu, {1, lanes}, [] {}); });
    EXPECT_EQ(told.kind, error_kind::bad_input) << lanes;
  }
}

TEST(launch, ends_with_what_a_lane_threw) {
  const auto cpu = machine::cpu(2);
  EXPECT_THROW(launch(*cpu, {8, 64},
                      [] {
                        if (grid_index() == 77) throw std::domain_error("lane 77");
                        while (true) executor::relax();
                      }),
               std::domain_error);
}

TEST(launch, works_again_after_one_that_failed) {
  const auto cpu = machine::cpu(2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(launch(*cpu, {70, 64}, [] { executor::meet(executor::collective::sync, 0, 0, 0); }), error);
    std::uint32_t ran = 0;
    launch(*cpu, {70, 64}, [words = &ran] {
      if (warp_team::whole().leads()) on_device(*words).fetch_add(1, relaxed);
    });
    EXPECT_EQ(ran, 140U);
  }
}

TEST(launch, begins_when_the_one_before_has_ended) {
  const auto cpu = machine::cpu(2);
  std::uint64_t last = 0;
  const auto first = start(*cpu, {4, 32}, [word = &last] {
    for (int i = 0; i < 1000; ++i) executor::relax();
    on_device(*word).fetch_add(1, relaxed);
  });
  std::uint64_t seen = 0;
  launch(*cpu, {1, 1}, [from = &last, to = &seen] { *to = on_device(*from).load(relaxed); });
  EXPECT_EQ(seen, 128U);
  EXPECT_TRUE(first->finished());
}

TEST(launch, of_no_blocks_ends_at_once) {
  const auto cpu = machine::cpu(2);
  EXPECT_GE(launch(*cpu, {0, 32}, [] { throw std::logic_error("no lane should run"); }).seconds, 0);
}

TEST(launch, refuses_a_machine_that_the_build_does_not_have) {
  if (machine::has_cuda()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(test::refusal_of([] { machine::cuda(); }).kind, error_kind::unavailable);
}

}  // namespace
}  // namespace sluice::lane

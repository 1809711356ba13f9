#include "sluice/emulator/sizing.h"

#include <gtest/gtest.h>

#include "sluice/base/bits.h"

namespace sluice::emulator {
namespace {

/// What fills a PCIe 4.0 x16 link by 512 B, in the BaM paper.
constexpr double paper_rate = 51e6;

drive_plan plan_of(const char* model, const workload& wanted = {.accesses_per_s = paper_rate},
                   const surroundings& around = {}, std::optional<std::uint64_t> drives = {}) {
  return plan_drives(find_drive_model(model), wanted, around, drives);
}

TEST(sizing, has_the_queue_depths_of_the_paper) {
  EXPECT_EQ(commands_in_flight(paper_rate, 11), 561U);
  EXPECT_EQ(commands_in_flight(paper_rate, 324), 16524U);
  EXPECT_EQ(plan_of("p5800x").queue_depth, 561U);
  EXPECT_EQ(plan_of("980pro").queue_depth, 16524U);
}

TEST(sizing, has_the_gains_of_the_paper) {
  EXPECT_NEAR(plan_of("pm1735").gain.value(), 4.3, 0.05);
  EXPECT_NEAR(plan_of("p5800x").gain.value(), 4.4, 0.05);
  EXPECT_NEAR(plan_of("980pro").gain.value(), 21.8, 0.05);
}

TEST(sizing, knows_no_gain_where_it_knows_no_price) {
  EXPECT_FALSE(plan_of("storage-next").gain.has_value());
}

TEST(sizing, rounds_commands_in_flight_up_but_not_for_noise) {
  EXPECT_EQ(commands_in_flight(10e6, 0.35), 4U);
  EXPECT_EQ(commands_in_flight(10e6, 0.3), 3U);
  EXPECT_EQ(commands_in_flight(1, 1), 1U);
}

TEST(sizing, counts_no_further_than_64_bits) {
  EXPECT_EQ(commands_in_flight(1e300, 1e300), std::uint64_t{1} << 62);
  const drive_plan plan = plan_of("980pro", {.accesses_per_s = 1e300}, {}, 1);
  EXPECT_EQ(plan.queues, 128U);
  EXPECT_EQ(plan.depth, 1024U);
}

TEST(sizing, takes_as_many_drives_as_the_rate_needs) {
  const drive_plan exact = plan_of("p5800x");
  EXPECT_EQ(exact.drives, 10U);
  EXPECT_DOUBLE_EQ(exact.accesses_per_s, paper_rate);
  EXPECT_EQ(plan_of("p5800x", {.accesses_per_s = paper_rate + 1}).drives, 11U);
  EXPECT_EQ(plan_of("980pro").drives, 68U);
}

TEST(sizing, gives_each_drive_queues_that_hold_its_commands) {
  for (const drive_model& model : drive_models()) {
    const drive_plan plan = plan_of(model.name.c_str());
    EXPECT_TRUE(is_power_of_two(plan.queues)) << model.name;
    EXPECT_TRUE(is_power_of_two(plan.depth)) << model.name;
    EXPECT_GE(plan.queues * (plan.depth - 1) * plan.drives, plan.lanes) << model.name;
    EXPECT_GE(plan.lanes, plan.queue_depth) << model.name;
    EXPECT_GE(plan.in_flight * plan.drives, plan.queue_depth) << model.name;
  }
}

TEST(sizing, keeps_one_entry_of_a_queue_free) {
  const workload four_in_flight{.accesses_per_s = 4e6 / 11};
  const surroundings no_path{.lanes_us = 0};
  EXPECT_EQ(plan_of("p5800x", four_in_flight, no_path).in_flight, 4U);
  EXPECT_EQ(plan_of("p5800x", four_in_flight, no_path).depth, 8U);
  const workload three_in_flight{.accesses_per_s = 3e6 / 11};
  EXPECT_EQ(plan_of("p5800x", three_in_flight, no_path).depth, 4U);
}

TEST(sizing, spreads_a_fast_drive_over_more_queues_than_its_depth_takes) {
  const drive_plan plan = plan_of("storage-next");
  EXPECT_GE(static_cast<double>(plan.queues) * measured_queue_commands_per_s, paper_rate);
}

TEST(sizing, names_the_link_where_the_link_ends_first) {
  const drive_plan plan = plan_of("p5800x", {.accesses_per_s = 200e6});
  EXPECT_EQ(plan.limit().what, bottleneck::link);
  EXPECT_DOUBLE_EQ(plan.accesses_per_s, measured_link_bytes_per_s / 512);
}

TEST(sizing, names_the_drive_where_there_are_too_few) {
  const drive_plan plan = plan_of("p5800x", {.accesses_per_s = paper_rate}, {}, 4);
  EXPECT_EQ(plan.limit().what, bottleneck::drive);
  EXPECT_DOUBLE_EQ(plan.accesses_per_s, 4 * 5.1e6);
}

TEST(sizing, names_the_queue_depth_where_drives_grant_too_little) {
  const drive_plan plan = plan_of("980pro", {.accesses_per_s = paper_rate}, {.queues = 1, .depth = 64});
  EXPECT_EQ(plan.limit().what, bottleneck::queue_depth);
  EXPECT_NEAR(plan.accesses_per_s, 68 * 63 / 324e-6, 1);
  EXPECT_EQ(plan.queues, 1U);
  EXPECT_EQ(plan.depth, 64U);
}

TEST(sizing, names_the_sms_where_they_submit_too_slowly) {
  const drive_plan plan = plan_of("p5800x", {.accesses_per_s = paper_rate}, {.gpu_commands_per_s = 40e6});
  EXPECT_EQ(plan.limit().what, bottleneck::sms);
  EXPECT_DOUBLE_EQ(plan.accesses_per_s, 40e6);
}

TEST(sizing, counts_the_busier_way_of_the_link) {
  EXPECT_DOUBLE_EQ(link_rate(51.2e9, 512, 0), 100e6);
  EXPECT_DOUBLE_EQ(link_rate(51.2e9, 512, 1), 100e6);
  EXPECT_DOUBLE_EQ(link_rate(51.2e9, 512, 0.5), 200e6);
}

TEST(sizing, has_a_word_for_each_limit) {
  EXPECT_STREQ(to_string(bottleneck::link), "link");
  EXPECT_STREQ(to_string(bottleneck::drive), "drive");
  EXPECT_STREQ(to_string(bottleneck::queue_depth), "queue_depth");
  EXPECT_STREQ(to_string(bottleneck::sms), "sms");
}

}  // namespace
}  // namespace sluice::emulator

#include "tools/sluice/plot_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sluice::tool {
namespace {

using numbers = std::vector<double>;

void expect_near(const numbers& got, const numbers& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t at = 0; at < got.size(); ++at)
    EXPECT_NEAR(got[at], wanted[at], 1e-9 * std::abs(wanted[at])) << "tick " << at;
}

TEST(plot_scale, linear_ticks_are_round_and_enclose_what_is_shown) {
  expect_near(linear_ticks(0, 1.3e6, 5), {0, 0.5e6, 1e6, 1.5e6});
  expect_near(linear_ticks(0, 1, 5), {0, 0.2, 0.4, 0.6, 0.8, 1});
  expect_near(linear_ticks(0, 97, 5), {0, 20, 40, 60, 80, 100});
  expect_near(linear_ticks(-5, 5, 5), {-6, -4, -2, 0, 2, 4, 6});
}

TEST(plot_scale, log_ticks_are_1_2_5_and_enclose_what_is_shown) {
  expect_near(log_ticks(3, 90, 9), {2, 5, 10, 20, 50, 100});
  expect_near(log_ticks(10, 1000, 9), {10, 20, 50, 100, 200, 500, 1000});
}

TEST(plot_scale, log_ticks_of_many_decades_are_powers_of_ten_and_not_too_many) {
  expect_near(log_ticks(3, 2e5, 9), {1, 10, 100, 1e3, 1e4, 1e5, 1e6});
  const numbers wide = log_ticks(1e-18, 1e18, 9);
  EXPECT_LE(wide.size(), 10U);
  EXPECT_LE(wide.front(), 1e-18 * (1 + 1e-9));
  EXPECT_GE(wide.back(), 1e18 * (1 - 1e-9));
}

TEST(plot_scale, is_logarithmic_only_where_values_span_more_than_a_factor_of_20) {
  EXPECT_FALSE(plot_scale::around({1, 20}).is_log());
  EXPECT_TRUE(plot_scale::around({1, 21}).is_log());
  EXPECT_FALSE(plot_scale::around({0, 1000}).is_log()) << "0 has no logarithm";
  EXPECT_FALSE(plot_scale::around({-1, 1000}).is_log());
}

TEST(plot_scale, what_is_measured_lies_between_the_outer_ticks) {
  for (const numbers& values :
       {numbers{3, 4, 7}, numbers{0.02, 700}, numbers{5}, numbers{0}, numbers{-3, 3}}) {
    const plot_scale scale = plot_scale::around(values);
    EXPECT_EQ(scale.place(scale.ticks().front()), 0);
    EXPECT_EQ(scale.place(scale.ticks().back()), 1);
    for (const double value : values) {
      EXPECT_GE(scale.place(value), 0) << value;
      EXPECT_LE(scale.place(value), 1) << value;
    }
  }
}

TEST(plot_scale, a_linear_scale_of_what_is_measured_begins_at_0) {
  EXPECT_EQ(plot_scale::around({900, 1000}).ticks().front(), 0);
}

TEST(plot_scale, few_values_that_were_chosen_are_the_ticks) {
  const plot_scale depths = plot_scale::through({1024, 16, 64, 256, 64});
  EXPECT_EQ(depths.ticks(), (numbers{16, 64, 256, 1024}));
  EXPECT_TRUE(depths.is_log());
  EXPECT_NEAR(depths.place(64), 1.0 / 3, 1e-9);
  EXPECT_EQ(plot_scale::through({7}).place(7), 0.5);
}

TEST(plot_scale, many_values_that_were_chosen_get_round_ticks_within_them) {
  numbers values;
  for (int n = 3; n <= 42; ++n) values.push_back(n);
  expect_near(plot_scale::through(values).ticks(), {10, 20, 30, 40});
}

TEST(unit_text, says_numbers_as_people_do) {
  EXPECT_EQ(unit_text(0, plot_unit::number), "0");
  EXPECT_EQ(unit_text(1'626'339, plot_unit::number), "1.626 M");
  EXPECT_EQ(unit_text(999.97, plot_unit::number), "1 k");
  EXPECT_EQ(unit_text(32768, plot_unit::count), "32,768");
  EXPECT_EQ(unit_text(65536, plot_unit::bytes), "64 KiB");
  EXPECT_EQ(unit_text(512, plot_unit::bytes), "512 B");
  EXPECT_EQ(unit_text(41, plot_unit::micros), "41 µs");
  EXPECT_EQ(unit_text(2500, plot_unit::micros), "2.5 ms");
  EXPECT_EQ(unit_text(0.25, plot_unit::share), "25 %");
  EXPECT_EQ(unit_text(0.9421, plot_unit::ratio), "0.9421×");
}

}  // namespace
}  // namespace sluice::tool

#include "tools/sluice/steady_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sluice::tool {
namespace {

using slices = std::vector<std::uint64_t>;

slices made(std::size_t count, double (*rate)(double)) {
  slices all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(static_cast<std::uint64_t>(rate(static_cast<double>(i))));
  return all;
}

TEST(steady_state, an_even_rate_is_steady_from_the_start) {
  const steady_state got = find_steady_state(slices(40, 1000));
  EXPECT_TRUE(got.reached);
  EXPECT_EQ(got.first, 0U);
  EXPECT_EQ(got.range, 0);
  EXPECT_EQ(got.slope, 0);
}

TEST(steady_state, a_start_at_a_higher_rate_is_left_out) {
  const steady_state got = find_steady_state(made(50, [](double i) { return i < 10 ? 5000.0 : 1000.0; }));
  EXPECT_TRUE(got.reached);
  EXPECT_GT(got.first, 5U);
  EXPECT_LE(got.first, 10U);
}

TEST(steady_state, a_rate_that_goes_on_falling_is_never_steady) {
  const steady_state got = find_steady_state(made(50, [](double i) { return 10'000 * std::exp(-i / 40); }));
  EXPECT_FALSE(got.reached);
  EXPECT_EQ(got.first, 0U);
  EXPECT_LT(got.slope, -steady_state::most_slope);
}

TEST(steady_state, a_rate_that_swings_is_not_steady) {
  const steady_state got =
      find_steady_state(made(50, [](double i) { return std::fmod(i, 20) < 10 ? 1000.0 : 2000.0; }));
  EXPECT_FALSE(got.reached);
  EXPECT_GT(got.range, steady_state::most_range);
}

TEST(steady_state, what_came_to_a_stop_in_the_second_half_is_not_steady) {
  EXPECT_FALSE(find_steady_state(made(50, [](double i) { return i < 30 ? 1000.0 : 0.0; })).reached);
}

TEST(steady_state, too_little_is_not_steady) {
  EXPECT_FALSE(find_steady_state({}).reached);
  EXPECT_FALSE(find_steady_state(slices(9, 1000)).reached);
  EXPECT_FALSE(find_steady_state(slices(50, 0)).reached);
}

TEST(steady_state, slices_that_do_not_divide_into_rounds_count_from_the_end) {
  slices all(52, 1000);
  all[0] = all[1] = 0;
  EXPECT_TRUE(find_steady_state(all).reached);
}

}  // namespace
}  // namespace sluice::tool

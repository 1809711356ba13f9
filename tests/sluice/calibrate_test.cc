// Calibration by clocks that scatter, stand still or are late.
#include "tools/sluice/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace sluice::tool {
namespace {

constexpr double step_seconds = 1e-8;

double true_seconds(std::uint64_t steps) { return static_cast<double>(steps) * step_seconds; }

TEST(calibration, finds_the_steps_by_a_clock_that_is_right) {
  for (const double seconds : {1e-5, 1e-3, 0.1}) {
    const std::uint64_t steps = steps_that_take(seconds, true_seconds);
    EXPECT_NEAR(true_seconds(steps), seconds, seconds / 100 + step_seconds);
  }
}

TEST(calibration, runs_nothing_long_by_a_clock_that_scatters) {
  constexpr double seconds = 1e-3, scatter = 2e-3;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> noise(-scatter, scatter);
    double longest = 0;
    const std::uint64_t steps = steps_that_take(seconds, [&](std::uint64_t of) {
      longest = std::max(longest, true_seconds(of));
      return std::max(0.0, true_seconds(of) + noise(random));
    });
    EXPECT_LE(std::max(longest, true_seconds(steps)), 2 * (seconds + scatter)) << "seed " << seed;
    EXPECT_GE(steps, 1U);
  }
}

TEST(calibration, answers_for_no_time_at_all) {
  EXPECT_GE(steps_that_take(0, true_seconds), 1U);
  EXPECT_GE(steps_that_take(0, [](std::uint64_t) { return 0.0; }), 1U);
}

}  // namespace
}  // namespace sluice::tool

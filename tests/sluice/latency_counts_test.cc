#include "tools/sluice/latency_counts.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::tool {
namespace {

TEST(latency_counts, each_latency_falls_into_the_bucket_that_begins_at_or_below_it) {
  for (std::uint64_t ns : {0ULL, 1ULL, 31ULL, 32ULL, 33ULL, 63ULL, 64ULL, 65ULL, 127ULL, 11'000ULL,
                           324'000ULL, 5'000'000'000ULL}) {
    const std::uint32_t bucket = latency_bucket(ns);
    EXPECT_LE(latency_from(bucket), ns);
    EXPECT_GT(latency_from(bucket + 1), ns);
  }
}

TEST(latency_counts, buckets_follow_one_another_and_are_at_most_a_thirty_second_wide) {
  for (std::uint32_t bucket = 1; bucket < latency_buckets; ++bucket) {
    EXPECT_EQ(latency_bucket(latency_from(bucket)), bucket);
    EXPECT_EQ(latency_bucket(latency_from(bucket) - 1), bucket - 1);
    EXPECT_LE((latency_from(bucket + 1) - latency_from(bucket)) * 32,
              std::max<std::uint64_t>(latency_from(bucket), 32));
  }
}

TEST(latency_counts, what_is_too_long_falls_into_the_last) {
  EXPECT_EQ(latency_bucket(~std::uint64_t{0}), latency_buckets - 1);
  EXPECT_GT(latency_from(latency_buckets - 1), 1'800'000'000'000ULL);
}

TEST(latency_counts, percentiles_are_those_of_what_was_counted) {
  std::vector<std::uint64_t> counts(latency_buckets);
  for (std::uint64_t us = 1; us <= 1000; ++us) ++counts[latency_bucket(us * 1000)];
  const latency_summary got = summary_of(counts);
  EXPECT_NEAR(got.p50, 500, 16);
  EXPECT_NEAR(got.p99, 990, 31);
  EXPECT_NEAR(got.p999, 999, 31);
  EXPECT_NEAR(got.max, 1000, 31);
}

TEST(latency_counts, nothing_counted_has_no_percentiles) {
  EXPECT_EQ(summary_of(std::vector<std::uint64_t>(latency_buckets)).max, 0);
}

}  // namespace
}  // namespace sluice::tool

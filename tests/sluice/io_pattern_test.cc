#include "tools/sluice/io_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace sluice::tool {
namespace {

std::vector<std::uint64_t> counts(io_pattern pattern, std::uint32_t bits, std::uint64_t first,
                                  std::uint64_t draws, std::uint64_t seed = 1) {
  std::vector<std::uint64_t> times(std::uint64_t{1} << bits);
  for (std::uint64_t n = first; n < first + draws; ++n) ++times.at(drawn_block(pattern, n, bits, seed));
  return times;
}

TEST(io_pattern, random_and_sequential_give_every_block_once_a_pass) {
  for (const io_pattern pattern : {io_pattern::random, io_pattern::sequential})
    for (const std::uint32_t bits : {1U, 2U, 3U, 9U, 14U})
      for (const std::uint64_t pass : {0U, 1U, 7U}) {
        const std::uint64_t blocks = std::uint64_t{1} << bits;
        const auto times = counts(pattern, bits, pass * blocks, blocks);
        EXPECT_EQ(std::count(times.begin(), times.end(), 1U), static_cast<std::ptrdiff_t>(blocks))
            << bits << " bits, pass " << pass;
      }
}

TEST(io_pattern, random_passes_and_seeds_differ) {
  std::set<std::vector<std::uint64_t>> orders;
  for (const std::uint64_t seed : {1U, 2U})
    for (const std::uint64_t pass : {0U, 1U, 2U}) {
      std::vector<std::uint64_t> order;
      for (std::uint64_t n = pass << 10; n < (pass + 1) << 10; ++n)
        order.push_back(drawn_block(io_pattern::random, n, 10, seed));
      orders.insert(order);
    }
  EXPECT_EQ(orders.size(), 6U);
}

TEST(io_pattern, uniform_repeats_as_chance_has_it) {
  constexpr std::uint64_t blocks = 1 << 14;
  const auto times = counts(io_pattern::uniform, 14, 0, blocks);
  const auto never = static_cast<double>(std::count(times.begin(), times.end(), 0U));
  EXPECT_NEAR(never / blocks, 0.368, 0.01);  // 1 / e of them
  EXPECT_LT(*std::max_element(times.begin(), times.end()), 12U);
}

TEST(io_pattern, writes_as_often_as_it_is_told) {
  for (const std::uint32_t in_1024 : {0U, 1U, 256U, 1024U}) {
    std::uint32_t writes = 0;
    for (std::uint64_t n = 0; n < 1 << 20; ++n) writes += draws_write(mix(n), in_1024) ? 1 : 0;
    EXPECT_NEAR(writes, in_1024 * 1024.0, in_1024 % 1024 == 0 ? 0 : 3000) << in_1024;
  }
}

TEST(io_pattern, zipf_favours_the_r_th_block_as_often_as_one_in_r) {
  constexpr std::uint64_t draws = 1 << 20;
  auto times = counts(io_pattern::zipf, 16, 0, draws);
  std::sort(times.rbegin(), times.rend());
  ASSERT_EQ(std::accumulate(times.begin(), times.end(), std::uint64_t{0}), draws);
  // Each power of two of ranks is drawn alike: 1 block, 2, 4 and so on (the last ones too seldom to tell
  // apart).
  for (std::uint32_t octave = 0; octave < 10; ++octave) {
    const auto begin = times.begin() + ((1 << octave) - 1);
    const auto share = static_cast<double>(std::accumulate(begin, begin + (1 << octave), std::uint64_t{0}));
    EXPECT_NEAR(share / draws, 1.0 / 16, 0.003) << octave;
  }
}

TEST(io_pattern, zipf_scatters_its_favourites) {
  const auto times = counts(io_pattern::zipf, 16, 0, 1 << 18);
  std::vector<std::uint64_t> blocks(times.size());
  std::iota(blocks.begin(), blocks.end(), 0U);
  std::partial_sort(blocks.begin(), blocks.begin() + 8, blocks.end(),
                    [&](std::uint64_t a, std::uint64_t b) { return times[a] > times[b]; });
  std::sort(blocks.begin(), blocks.begin() + 8);
  EXPECT_GT(blocks[7] - blocks[0], 1U << 13);
}

}  // namespace
}  // namespace sluice::tool

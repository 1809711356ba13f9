// Rows of an array that a team gathers: of any length, anywhere in pages, asked for in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sluice/array/array_ref.h"
#include "sluice/base/bits.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/fake_store.h"
#include "tests/support/plain_cache.h"

namespace sluice {
namespace {

using testing::fake_store;
using testing::fake_store_options;
using testing::fake_store_ref;
using testing::plain_cache;
using cache_type = cache::cache_ref<fake_store_ref>;

/// A store whose 32-bit words, from `first_byte` on, are counted from 0.
struct rig {
  explicit rig(const fake_store_options& options, std::uint64_t first_byte = 0, std::uint64_t frames = 8)
      : store(options),
        memory(frames, options.page_bytes, 200'000'000),
        cache(memory.view(), fake_store_ref{&store}),
        first(first_byte) {
    for (std::uint64_t word = 0; word < bytes() / 8; ++word) {
      const std::uint64_t k = 2 * word;
      store.media_word(word / store.words_per_page(),
                       static_cast<std::uint32_t>(word % store.words_per_page())) = (k + 1) << 32 | k;
    }
  }
  std::uint64_t bytes() const { return store.options().pages * store.options().page_bytes; }
  array_ref<std::uint32_t, cache_type> array() { return {cache, first, (bytes() - first) / 4, &failures}; }
  /// The k-th word of row `row`.
  std::uint32_t truth(std::uint64_t row, std::uint32_t width, std::uint32_t k) const {
    return static_cast<std::uint32_t>(first / 4 + row * width + k);
  }

  fake_store store;
  plain_cache memory;
  cache_type cache;
  std::uint64_t first;
  mailbox failures;
};

constexpr std::uint32_t unset = 0xdeadbeef;

/// Gathers by one launch of `warps` warps of `lanes` lanes, each warp its share of the rows.
std::vector<std::uint32_t> gathered(rig& from, const std::vector<std::uint32_t>& rows, std::uint32_t width,
                                    std::uint32_t warps, std::uint32_t lanes, status* told = nullptr) {
  std::vector<std::uint32_t> out(rows.size() * width, unset);
  const auto a = from.array();
  const std::uint64_t share = divide_up(rows.size(), warps);
  lane::machine::cpu(2)
      ->start_on_cpu(
          {warps, lanes},
          [&] {
            const lane::warp_team team = lane::warp_team::whole();
            const std::uint64_t begin = std::min<std::uint64_t>(lane::block_index() * share, rows.size());
            const std::uint64_t count = std::min<std::uint64_t>(share, rows.size() - begin);
            const status code = a.gather(team, rows.data() + begin, count, width, out.data() + begin * width);
            if (team.leads() && told != nullptr && !code.is_ok()) *told = code;
          })
      ->wait();
  return out;
}

struct shape {
  std::uint32_t width;
  std::uint64_t first_byte;
  std::uint32_t lanes;
};

class gather_shapes : public ::testing::TestWithParam<shape> {};

TEST_P(gather_shapes, brings_each_row_to_its_place) {
  const shape given = GetParam();
  rig rig({.pages = 128, .page_bytes = 512}, given.first_byte, 32);
  const std::uint64_t there = rig.array().size() / given.width;
  std::vector<std::uint32_t> rows(150);
  for (std::uint32_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::uint32_t>(mix(k) % there);
  rows[7] = rows[3];
  rows[9] = static_cast<std::uint32_t>(there - 1);
  const std::vector<std::uint32_t> got = gathered(rig, rows, given.width, 3, given.lanes);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::uint32_t k = 0; k < given.width; ++k)
      ASSERT_EQ(got[r * given.width + k], rig.truth(rows[r], given.width, k))
          << "row " << r << ", word " << k;
  EXPECT_EQ(rig.failures.is, mailbox::empty);
}

INSTANTIATE_TEST_SUITE_P(widths, gather_shapes,
                         ::testing::Values(shape{4, 0, 32}, shape{1, 0, 32}, shape{3, 0, 32},
                                           shape{25, 0, 32}, shape{128, 0, 32}, shape{128, 8, 32},
                                           shape{100, 16, 32}, shape{256, 0, 32}, shape{300, 8, 32},
                                           shape{2048, 0, 32}, shape{16, 0, 1}, shape{100, 0, 7},
                                           shape{64, 0, 20}));

TEST(gather, reads_a_page_once_that_several_rows_want) {
  rig rig({.pages = 16, .page_bytes = 512});
  std::vector<std::uint32_t> rows(32, 5);
  rows[30] = 4;  // of the same page
  (void)gathered(rig, rows, 64, 1, 32);
  EXPECT_EQ(rig.store.reads(), 1U);
  EXPECT_EQ(rig.store.batches(), 1U);
}

TEST(gather, asks_for_all_rows_of_a_round_in_one_batch) {
  rig rig({.pages = 64, .page_bytes = 512}, 0, 64);
  std::vector<std::uint32_t> rows(32);
  std::iota(rows.begin(), rows.end(), 3);
  (void)gathered(rig, rows, 128, 1, 32);
  EXPECT_EQ(rig.store.reads(), 32U);
  EXPECT_LE(rig.store.batches(), 2U) << "a set that is busy is asked again";
}

TEST(gather, tells_of_rows_that_failed_and_copies_the_others) {
  rig rig({.pages = 16, .page_bytes = 512, .bad_reads = {2}});
  status told;
  const std::vector<std::uint32_t> got = gathered(rig, {1, 2, 3, 16}, 128, 1, 32, &told);
  EXPECT_EQ(told, status::from_nvme(fake_store::read_failure));
  EXPECT_EQ(rig.failures.is, mailbox::full);
  EXPECT_EQ(rig.failures.failures, 2U) << "a page that cannot be read, and a row beyond the end";
  for (std::uint32_t k = 0; k < 128; ++k) {
    EXPECT_EQ(got[k], rig.truth(1, 128, k));
    EXPECT_EQ(got[128 + k], unset);
    EXPECT_EQ(got[256 + k], rig.truth(3, 128, k));
    EXPECT_EQ(got[384 + k], unset);
  }
}

TEST(gather, of_nothing_is_ok) {
  rig rig({.pages = 16, .page_bytes = 512});
  std::uint32_t out = unset;
  const std::uint32_t row = 0;
  EXPECT_EQ(rig.array().gather(lane::solo(), &row, 0, 4, &out), status::ok);
  EXPECT_EQ(rig.array().gather(lane::solo(), &row, 1, 0, &out), status::ok);
  EXPECT_EQ(rig.array().gather(lane::solo(), &row, 1, 1 << 20, &out), status::out_of_range);
  EXPECT_EQ(out, unset);
}

}  // namespace
}  // namespace sluice

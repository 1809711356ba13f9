#include "sluice/drive/volume_ref.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::drive {
namespace {

static_assert(std::is_trivially_copyable_v<volume_ref>);

volume_shape random_shape(std::mt19937_64& random, layout how) {
  const std::uint64_t unit = largest_page << (random() % 5);
  const std::uint32_t most = how == layout::mirror ? most_replicas : 40;
  return {.how = how,
          .drives = static_cast<std::uint32_t>(1 + random() % most),
          .block_size = 512U << (random() % 8),
          .unit = unit,
          .data_start = random() % 2 == 0 ? 0 : MiB,
          .drive_bytes = unit * (1 + random() % 20),
          .failed = 0};
}

TEST(volume_ref, gives_every_byte_of_a_stripe_a_block_of_its_own) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const volume_shape shape = random_shape(random, layout::stripe);
    const volume_ref ref(shape);
    ASSERT_EQ(ref.bytes(), shape.drive_bytes * shape.drives);
    std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
    for (std::uint64_t byte = 0; byte < ref.bytes(); byte += largest_page) {
      const volume_place place = ref.locate(byte);
      const std::uint64_t on_drive = place.first.value * shape.block_size;
      ASSERT_LT(place.drive, shape.drives);
      ASSERT_GE(on_drive, shape.data_start);
      ASSERT_LE(on_drive + largest_page, shape.data_start + shape.drive_bytes);
      ASSERT_TRUE(seen.emplace(place.drive, on_drive).second);
    }
    // As many distinct pages as fit: nothing is left over on any drive.
    ASSERT_EQ(seen.size(), shape.drives * (shape.drive_bytes / largest_page));
  }
}

TEST(volume_ref, agrees_with_plain_division_at_every_size) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100'000; ++round) {
    volume_shape shape = random_shape(random, layout::stripe);
    shape.drives = static_cast<std::uint32_t>(2 + random() % (most_drives - 1));
    shape.drive_bytes = (std::uint64_t{1} << 56) / shape.drives / shape.unit * shape.unit;
    const volume_ref ref(shape);
    // Around a multiple of drives × unit, where a rounding error would show.
    const std::uint64_t row = shape.unit * shape.drives;
    const std::uint64_t byte =
        random() % (ref.bytes() / row) * row + (random() % 2 == 0 ? 0 : row - shape.unit);
    const std::uint64_t unit = byte / shape.unit;
    const volume_place place = ref.locate(byte);
    ASSERT_EQ(place.drive, unit % shape.drives);
    ASSERT_EQ(place.first.value, (shape.data_start + unit / shape.drives * shape.unit) / shape.block_size);
  }
}

TEST(volume_ref, keeps_a_page_together) {
  std::mt19937_64 random(3);
  for (const layout how : {layout::stripe, layout::mirror})
    for (int round = 0; round < 1000; ++round) {
      const volume_shape shape = random_shape(random, how);
      const volume_ref ref(shape);
      const std::uint64_t page = random() % (ref.bytes() / largest_page) * largest_page;
      const std::uint64_t block = random() % (largest_page / shape.block_size);
      const volume_place first = ref.locate(page);
      const volume_place inside = ref.locate(page + block * shape.block_size);
      ASSERT_EQ(inside.drive, first.drive);
      ASSERT_EQ(inside.first.value, first.first.value + block);
    }
}

TEST(volume_ref, finds_each_copy_of_a_mirror_at_one_block_of_each_drive) {
  const volume_ref ref({.how = layout::mirror, .drives = 3, .data_start = MiB, .drive_bytes = MiB});
  EXPECT_EQ(ref.bytes(), MiB);
  EXPECT_EQ(ref.replicas(), 3U);
  for (std::uint32_t copy = 0; copy < 3; ++copy) {
    EXPECT_EQ(ref.locate(4096, copy).drive, copy);
    EXPECT_EQ(ref.locate(4096, copy).first.value, (MiB + 4096) / 512);
  }
}

TEST(volume_ref, has_one_copy_on_a_stripe_and_on_a_single_drive) {
  for (const std::uint32_t drives : {1U, 5U}) {
    const volume_ref ref({.drives = drives, .drive_bytes = MiB});
    EXPECT_EQ(ref.replicas(), 1U);
    EXPECT_EQ(ref.choose_replica(123456, 7), 0U);
  }
  EXPECT_EQ(volume_ref({.how = layout::mirror, .drives = 1, .drive_bytes = MiB}).replicas(), 1U);
}

/// How often each of `shape`'s replicas is chosen in 100 reads of every page by one lane each.
std::vector<double> shares(const volume_shape& shape) {
  const volume_ref ref(shape);
  std::vector<double> share(shape.drives);
  const std::uint64_t pages = ref.bytes() / 4096;
  for (std::uint64_t page = 0; page < pages; ++page)
    for (std::uint32_t lane = 0; lane < 100; ++lane)
      share.at(ref.choose_replica(page * 4096, lane)) += 1.0 / (100.0 * pages);
  return share;
}

TEST(volume_ref, spreads_reads_over_the_replicas) {
  for (const std::uint32_t drives : {2U, 3U, 7U, 64U})
    for (const double share : shares({.how = layout::mirror, .drives = drives, .drive_bytes = MiB}))
      EXPECT_NEAR(share, 1.0 / drives, 0.15 / drives);
}

TEST(volume_ref, never_reads_a_failed_replica) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 50; ++round) {
    volume_shape shape = random_shape(random, layout::mirror);
    shape.drive_bytes = shape.unit;
    const std::uint64_t all = shape.drives == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.drives) - 1;
    shape.failed = random() & all & ~(std::uint64_t{1} << (random() % shape.drives));
    const std::vector<double> share = shares(shape);
    for (std::uint32_t i = 0; i < shape.drives; ++i) {
      ASSERT_EQ(volume_ref(shape).alive(i), ((shape.failed >> i) & 1) == 0);
      ASSERT_TRUE(volume_ref(shape).alive(i) || share[i] == 0) << i << " of " << shape.drives;
    }
  }
}

TEST(volume_ref, tries_every_live_replica_in_turn) {
  const volume_ref ref(
      {.how = layout::mirror, .drives = 5, .drive_bytes = MiB, .failed = std::uint64_t{1} << 2});
  const std::uint64_t left_out = std::uint64_t{1} << 4;
  for (std::uint32_t lane = 0; lane < 100; ++lane) {
    std::set<std::uint32_t> tried;
    for (std::uint32_t attempt = 0; attempt < 3; ++attempt)
      tried.insert(ref.choose_replica(4096, lane, attempt, left_out));
    ASSERT_EQ(tried, (std::set<std::uint32_t>{0, 1, 3}));
    ASSERT_EQ(ref.choose_replica(4096, lane, 3, left_out), ref.choose_replica(4096, lane, 0, left_out));
  }
  EXPECT_EQ(ref.live(left_out), 0b01011U);
  EXPECT_EQ(ref.live_replica(2), 3U);
}

TEST(volume_ref, knows_its_end) {
  const volume_ref ref({.drives = 2, .drive_bytes = MiB});
  EXPECT_TRUE(ref.contains(0, 2 * MiB));
  EXPECT_TRUE(ref.contains(2 * MiB, 0));
  EXPECT_FALSE(ref.contains(2 * MiB, 1));
  EXPECT_FALSE(ref.contains(4096, ~std::uint64_t{0}));
}

}  // namespace
}  // namespace sluice::drive

// What a cache promises to one lane, over a store that is slow, out of order and at times broken.
#include "sluice/cache/cache_ref.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/support/fake_store.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache {
namespace {

using testing::fake_store;
using testing::fake_store_options;
using testing::fake_store_ref;
using testing::plain_cache;

/// No second tier, or one of a few slots more than there are frames.
enum class tiers : std::uint8_t { none, exclusive, inclusive };

/// A store and a cache of `frames` frames over it.
template <class Policy = clock, mode Mode = mode::optimized, tiers Tier = tiers::none>
struct rig {
  using ref = cache_ref<fake_store_ref, Policy, Mode>;
  static_assert(std::is_trivially_copyable_v<ref>);

  rig(std::uint64_t frames, const fake_store_options& options)
      : store(options),
        memory(frames, options.page_bytes, 20'000'000,
               {Tier == tiers::none ? 0 : frames + 3,
                Tier == tiers::inclusive ? tier_kind::inclusive : tier_kind::exclusive}),
        cache(memory.view(), fake_store_ref{&store}) {}

  std::uint64_t value(std::uint64_t page, std::uint32_t at) {
    const outcome<std::uint64_t> got = cache.template read<std::uint64_t>({page}, at * 8);
    EXPECT_EQ(got.code, status::ok);
    return got.value;
  }
  status write(std::uint64_t page, std::uint32_t at, std::uint64_t value) {
    return cache.template write<std::uint64_t>({page}, at * 8, value);
  }
  flush_report flush() { return cache.flush(lane::solo(), {0}, {store.options().pages}); }

  fake_store store;
  plain_cache memory;
  ref cache;
};

template <class Variant>
class any_cache : public ::testing::Test {};
template <class Policy, mode Mode, tiers Tier = tiers::none>
struct variant {
  using rig = cache::rig<Policy, Mode, Tier>;
};
using variants = ::testing::Types<
    variant<clock, mode::optimized>, variant<fifo, mode::optimized>, variant<random, mode::optimized>,
    variant<s3_fifo, mode::optimized>, variant<clock, mode::naive>, variant<clock, mode::none>,
    variant<clock, mode::optimized, tiers::exclusive>, variant<s3_fifo, mode::optimized, tiers::inclusive>,
    variant<fifo, mode::naive, tiers::exclusive>>;
TYPED_TEST_SUITE(any_cache, variants);

TYPED_TEST(any_cache, reads_every_element_of_a_store_much_larger_than_itself) {
  for (const std::uint64_t frames : {2, 3, 7, 16, 40}) {
    typename TypeParam::rig rig(frames, {.pages = 100, .page_bytes = 64, .read_reports = 2});
    for (std::uint64_t page = 0; page < 100; ++page) {
      for (std::uint32_t at = 0; at < 8; ++at) EXPECT_EQ(rig.value(page, at), fake_store::stamp(page, at));
    }
  }
}

TYPED_TEST(any_cache, agrees_with_plain_memory_under_random_reads_writes_and_flushes) {
  for (const std::uint64_t frames : {2, 5, 16}) {
    typename TypeParam::rig rig(frames, {.pages = 40, .page_bytes = 64, .write_reports = 2, .seed = frames});
    std::vector<std::uint64_t> truth(40 * 8);
    for (std::uint64_t k = 0; k < truth.size(); ++k) truth[k] = fake_store::stamp(k / 8, k % 8);
    std::mt19937_64 random(frames);
    for (int k = 0; k < 4000; ++k) {
      const std::uint64_t page = random() % 40;
      const auto at = static_cast<std::uint32_t>(random() % 8);
      if (random() % 2 == 0) {
        ASSERT_EQ(rig.value(page, at), truth[page * 8 + at]);
      } else {
        truth[page * 8 + at] = random();
        ASSERT_EQ(rig.write(page, at, truth[page * 8 + at]), status::ok);
      }
      if (random() % 1000 == 0) {
        ASSERT_EQ(rig.flush().code, status::ok);
      }
    }
    ASSERT_EQ(rig.flush().code, status::ok);
    for (std::uint64_t k = 0; k < truth.size(); ++k) {
      EXPECT_EQ(rig.store.media_word(k / 8, static_cast<std::uint32_t>(k % 8)), truth[k]);
    }
  }
}

TYPED_TEST(any_cache, tells_the_status_of_a_read_that_failed_each_time_it_is_asked) {
  typename TypeParam::rig rig(4, {.pages = 10, .read_reports = 2, .bad_reads = {3}});
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(rig.cache.template read<std::uint32_t>({3}, 0).code,
              status::from_nvme(fake_store::read_failure));
    EXPECT_EQ(rig.value(4, 1), fake_store::stamp(4, 1));
  }
  rig.store.let_reads_succeed();
  EXPECT_EQ(rig.value(3, 1), fake_store::stamp(3, 1));
}

TYPED_TEST(any_cache, refuses_pages_beyond_the_end) {
  typename TypeParam::rig rig(4, {.pages = 10});
  EXPECT_EQ(rig.cache.template read<std::uint32_t>({10}, 0).code, status::out_of_range);
  EXPECT_EQ(rig.cache.template write<std::uint32_t>({std::uint64_t{1} << 40}, 0, 1), status::out_of_range);
  EXPECT_EQ(rig.cache.hold(lane::solo(), {10}, span_kind::overwrite).code, status::out_of_range);
  EXPECT_EQ(rig.store.reads(), 0U);
}

// Such frames once became dirty, and could never be written back.
TYPED_TEST(any_cache, refuses_writes_to_a_store_that_takes_none) {
  typename TypeParam::rig rig(2, {.pages = 10, .writable = false});
  EXPECT_EQ(rig.value(3, 1), fake_store::stamp(3, 1));
  EXPECT_EQ(rig.write(3, 1, 7), status::read_only);
  EXPECT_EQ(rig.write(4, 1, 7), status::read_only);
  EXPECT_EQ(rig.cache.fetch_add({3}, 8, std::uint64_t{5}).code, status::read_only);
  const std::byte raw[8] = {};
  EXPECT_EQ(rig.cache.template write_bytes<8>({3}, 8, raw, 8), status::read_only);
  for (const span_kind kind : {span_kind::write, span_kind::overwrite})
    EXPECT_EQ(rig.cache.hold(lane::solo(), {3}, kind).code, status::read_only);
  EXPECT_EQ(rig.write(10, 1, 7), status::out_of_range);
  for (std::uint64_t page = 0; page < 10; ++page) EXPECT_EQ(rig.value(page, 1), fake_store::stamp(page, 1));
  EXPECT_EQ(rig.flush().code, status::ok);
  EXPECT_EQ(rig.store.writes(), 0U);
}

TYPED_TEST(any_cache, survives_lost_queues_and_refused_commands) {
  typename TypeParam::rig rig(
      4, {.pages = 20, .write_reports = 2, .seed = 3, .lost_every = 5, .lost_looks = 10, .refuse_every = 7});
  std::vector<std::uint64_t> truth(20);
  for (std::uint64_t round = 1; round <= 10; ++round) {
    for (std::uint64_t page = 0; page < 20; ++page)
      ASSERT_EQ(rig.write(page, 2, truth[page] = page * 1000 + round), status::ok);
  }
  ASSERT_EQ(rig.flush().code, status::ok);
  for (std::uint64_t page = 0; page < 20; ++page) EXPECT_EQ(rig.store.media_word(page, 2), truth[page]);
}

TYPED_TEST(any_cache, adds_to_elements) {
  typename TypeParam::rig rig(2, {.pages = 10});
  for (std::uint64_t k = 0; k < 50; ++k) {
    const outcome<std::uint64_t> before = rig.cache.fetch_add({k % 10}, 8, std::uint64_t{5});
    EXPECT_EQ(before.code, status::ok);
    EXPECT_EQ(before.value, fake_store::stamp(k % 10, 1) + 5 * (k / 10));
  }
}

TYPED_TEST(any_cache, holds_pages_while_others_come_and_go) {
  typename TypeParam::rig rig(4, {.pages = 30});
  const held_page held = rig.cache.hold(lane::solo(), {7}, span_kind::read);
  ASSERT_TRUE(held.is_ok());
  for (std::uint64_t page = 0; page < 30; ++page) EXPECT_EQ(rig.value(page, 3), fake_store::stamp(page, 3));
  EXPECT_EQ(load_element<std::uint64_t>(rig.cache.bytes(held) + 16, lane::relaxed), fake_store::stamp(7, 2));
  rig.cache.release(lane::solo(), held);
}

TYPED_TEST(any_cache, writes_what_a_span_wrote) {
  typename TypeParam::rig rig(2, {.pages = 8});
  for (const span_kind kind : {span_kind::write, span_kind::overwrite}) {
    const held_page held = rig.cache.hold(lane::solo(), {5}, kind);
    ASSERT_TRUE(held.is_ok());
    for (std::uint32_t at = 0; at < 8; ++at) {
      store_element<std::uint64_t>(rig.cache.bytes(held) + at * 8,
                                   at * 100 + static_cast<std::uint64_t>(kind));
    }
    rig.cache.release(lane::solo(), held);
    for (std::uint64_t page = 0; page < 4; ++page) rig.value(page, 0);
    EXPECT_EQ(rig.value(5, 6), 600 + static_cast<std::uint64_t>(kind));
    ASSERT_EQ(rig.flush().code, status::ok);
    EXPECT_EQ(rig.store.media_word(5, 7), 700 + static_cast<std::uint64_t>(kind));
  }
}

TEST(cache_ref, reads_a_resident_page_without_the_store) {
  rig<> rig(4, {.pages = 10});
  for (int k = 0; k < 100; ++k) rig.value(2, 1);
  EXPECT_EQ(rig.store.reads(), 1U);
  EXPECT_EQ(rig.memory.sum(counter::accesses), 100U);
  EXPECT_EQ(rig.memory.sum(counter::misses), 1U);
  EXPECT_EQ(rig.memory.sum(counter::bytes_asked), 800U);
}

TEST(cache_ref, reads_anew_each_time_in_mode_none) {
  rig<clock, mode::none> rig(4, {.pages = 10});
  for (int k = 0; k < 100; ++k) rig.value(2, 1);
  EXPECT_EQ(rig.store.reads(), 100U);
}

TEST(cache_ref, overwrites_a_page_without_reading_it) {
  rig<> rig(4, {.pages = 10});
  const held_page held = rig.cache.hold(lane::solo(), {2}, span_kind::overwrite);
  ASSERT_TRUE(held.is_ok());
  EXPECT_EQ(rig.cache.read<std::uint64_t>({2}, 0).code, status::timed_out)
      << "others see it loading meanwhile";
  rig.cache.release(lane::solo(), held);
  EXPECT_EQ(rig.store.reads(), 0U);
  EXPECT_TRUE(rig.cache.read<std::uint64_t>({2}, 0).is_ok());
}

TEST(cache_ref, keeps_one_way_of_a_set_free_of_spans) {
  rig<> rig(4, {.pages = 10});
  std::vector<held_page> held;
  for (std::uint64_t page = 0; page < 3; ++page) {
    held.push_back(rig.cache.hold(lane::solo(), {page}, page == 1 ? span_kind::overwrite : span_kind::read));
    ASSERT_TRUE(held.back().is_ok());
  }
  EXPECT_EQ(rig.cache.hold(lane::solo(), {5}, span_kind::read).code, status::no_frame);
  EXPECT_EQ(rig.cache.hold(lane::solo(), {6}, span_kind::overwrite).code, status::no_frame);
  EXPECT_TRUE(rig.cache.hold(lane::solo(), {2}, span_kind::write).is_ok())
      << "a page that is held already costs no way";
  for (std::uint64_t page = 4; page < 10; ++page) EXPECT_EQ(rig.value(page, 0), fake_store::stamp(page, 0));
  rig.cache.release(lane::solo(), held[0]);
  EXPECT_TRUE(rig.cache.hold(lane::solo(), {5}, span_kind::read).is_ok());
}

TEST(cache_ref, writes_nothing_that_was_only_read) {
  rig<> rig(2, {.pages = 10});
  for (std::uint64_t page = 0; page < 10; ++page) rig.value(page, 0);
  const held_page held = rig.cache.hold(lane::solo(), {1}, span_kind::read);
  rig.cache.release(lane::solo(), held);
  EXPECT_EQ(rig.flush().code, status::ok);
  EXPECT_EQ(rig.store.writes(), 0U);
  EXPECT_EQ(rig.store.flushes(), 1U);
}

TEST(cache_ref, flushes_only_the_pages_of_the_range) {
  rig<> rig(16, {.pages = 16});
  for (std::uint64_t page = 0; page < 8; ++page) EXPECT_EQ(rig.write(page, 0, 1), status::ok);
  const std::uint64_t written_ahead = rig.store.writes();
  const flush_report report = rig.cache.flush(lane::solo(), {2}, {5});
  EXPECT_EQ(report.code, status::ok);
  EXPECT_EQ(report.written, 3U);
  EXPECT_EQ(rig.store.writes(), written_ahead + 3);
  for (std::uint64_t page = 2; page < 5; ++page) EXPECT_EQ(rig.store.media_word(page, 0), 1U);
}

TEST(cache_ref, tries_a_failed_write_once_more_in_flush) {
  rig<> rig(4, {.pages = 4, .write_reports = 2, .bad_writes = {{2, 1}}});
  EXPECT_EQ(rig.write(2, 0, 77), status::ok);
  const flush_report report = rig.flush();
  EXPECT_EQ(report.code, status::ok);
  EXPECT_EQ(report.written, 2U);
  EXPECT_EQ(rig.store.media_word(2, 0), 77U);
}

TEST(cache_ref, names_the_page_that_cannot_be_written_and_keeps_its_bytes) {
  rig<> rig(4, {.pages = 4, .bad_writes = {{2, 3}}});  // one of them perhaps ahead of need
  for (std::uint64_t page = 0; page < 4; ++page) EXPECT_EQ(rig.write(page, 0, 77 + page), status::ok);
  const flush_report report = rig.flush();
  EXPECT_EQ(report.code, status::from_nvme(fake_store::write_failure));
  EXPECT_EQ(report.page, page_id{2});
  EXPECT_EQ(rig.store.media_word(1, 0), 78U) << "the other pages are written all the same";
  EXPECT_EQ(rig.value(2, 0), 79U);
  EXPECT_EQ(rig.flush().code, status::ok);
  EXPECT_EQ(rig.store.media_word(2, 0), 79U);
}

TEST(cache_ref, tells_an_asker_when_only_failed_writes_fill_the_set) {
  rig<> rig(2, {.pages = 6, .bad_writes = {{0, 1000}, {1, 1000}}});
  EXPECT_EQ(rig.write(0, 0, 1), status::ok);
  EXPECT_EQ(rig.write(1, 0, 1), status::ok);
  EXPECT_EQ(rig.cache.read<std::uint32_t>({5}, 0).code, status::from_nvme(fake_store::write_failure));
  EXPECT_EQ(rig.value(0, 0), 1U);
}

// A flush once took the page of an overwriting span for clean. What lanes had written to it before was then
// neither in the store nor in the cache any more, though the flush had returned ok.
TEST(cache_ref, does_not_end_a_flush_while_a_dirty_page_is_being_overwritten) {
  rig<> rig(4, {.pages = 10});
  ASSERT_EQ(rig.write(3, 1, 77), status::ok);
  const held_page held = rig.cache.hold(lane::solo(), {3}, span_kind::overwrite);
  ASSERT_TRUE(held.is_ok());
  const flush_report early = rig.flush();
  EXPECT_EQ(early.code, status::timed_out);
  EXPECT_EQ(early.page, page_id{3});
  for (std::uint32_t at = 0; at < 8; ++at) store_element<std::uint64_t>(rig.cache.bytes(held) + at * 8, 78);
  rig.cache.release(lane::solo(), held);
  EXPECT_EQ(rig.flush().code, status::ok);
  EXPECT_EQ(rig.store.media_word(3, 1), 78U);
}

TEST(cache_ref, tells_the_stores_flush_failure) {
  rig<> rig(2, {.pages = 6});
  rig.store.fail_flush(status::queue_lost);
  EXPECT_EQ(rig.flush().code, status::queue_lost);
  EXPECT_EQ(rig.flush().page, no_page);
}

TEST(cache_ref, gives_up_when_its_patience_or_the_hosts_is_over) {
  rig<> rig(2, {.pages = 6, .lost_every = 1, .lost_looks = ~0U});
  EXPECT_EQ(rig.cache.read<std::uint32_t>({5}, 0).code, status::timed_out);
  EXPECT_EQ(rig.memory.word(0).uses() + rig.memory.word(1).uses(), 0U) << "its pin is gone";
  rig.memory.give_up();
  EXPECT_EQ(rig.cache.read<std::uint32_t>({4}, 0).code, status::cancelled);
}

TEST(cache_ref, reuses_no_frame_whose_transfer_is_unanswered) {
  rig<> rig(2, {.pages = 6, .lost_every = 1, .lost_looks = ~0U});
  EXPECT_EQ(rig.cache.read<std::uint32_t>({5}, 0).code, status::timed_out);
  EXPECT_EQ(rig.cache.read<std::uint32_t>({4}, 0).code, status::timed_out);
  EXPECT_EQ(rig.cache.read<std::uint32_t>({3}, 0).code, status::timed_out);
  EXPECT_EQ(rig.store.reads(), 2U);
}

TEST(cache_ref, prefetches_without_holding_anything) {
  rig<> rig(4, {.pages = 10});
  const prefetch_token token = rig.cache.prefetch(lane::solo(), {3});
  EXPECT_EQ(rig.store.pending(), 1U);
  EXPECT_EQ(rig.cache.wait(lane::solo(), token), status::ok);
  EXPECT_EQ(rig.value(3, 1), fake_store::stamp(3, 1));
  EXPECT_EQ(rig.store.reads(), 1U);
  for (std::uint32_t frame = 0; frame < 4; ++frame) EXPECT_TRUE(rig.memory.word(frame).is_unpinned());
}

TEST(cache_ref, tells_a_waiter_why_its_prefetch_failed) {
  rig<> rig(4, {.pages = 10, .bad_reads = {3}});
  const prefetch_token token = rig.cache.prefetch(lane::solo(), {3});
  EXPECT_EQ(rig.cache.wait(lane::solo(), token), status::from_nvme(fake_store::read_failure));
}

TEST(cache_ref, cleans_ahead_so_that_victims_are_there) {
  rig<> rig(16, {.pages = 200, .most_delay = 0});
  for (std::uint64_t page = 0; page < 200; ++page) EXPECT_EQ(rig.write(page, 0, page), status::ok);
  std::uint32_t dirty = 0;
  for (std::uint32_t frame = 0; frame < 16; ++frame) dirty += rig.memory.word(frame).is_dirty() ? 1 : 0;
  EXPECT_LE(dirty, 9U);
}

TEST(cache_ref, reads_and_writes_elements_of_any_size) {
  struct odd {
    std::uint16_t parts[3];
  };
  rig<> rig(2, {.pages = 4, .page_bytes = 64});
  EXPECT_EQ((rig.cache.write<odd>({1}, 6, {{1, 2, 3}})), status::ok);
  EXPECT_EQ((rig.cache.write<std::uint8_t>({1}, 12, 9)), status::ok);
  EXPECT_EQ(rig.cache.read<odd>({1}, 6).value.parts[2], 3U);
  EXPECT_EQ(rig.cache.read<std::uint8_t>({1}, 12).value, 9U);
  std::byte raw[16];
  EXPECT_EQ(rig.cache.read_bytes<2>({1}, 6, raw, 8), status::ok);
  EXPECT_EQ(raw[2], std::byte{2});
}

}  // namespace
}  // namespace sluice::cache

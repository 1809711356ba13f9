// The second tier's own promises: what it brings without the store, what it gives up first, and what it never
// brings.
#include "sluice/cache/host_tier.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "sluice/base/error.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/cache/page_cache.h"
#include "tests/support/fake_store.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache {
namespace {

using testing::fake_store;
using testing::fake_store_ref;

TEST(tier_shape, has_buckets_of_at_most_sixteen_slots_and_no_more_than_fit) {
  for (const std::uint32_t sets : {1U, 2U, 1024U}) {
    for (std::uint64_t slots = 0; slots < std::uint64_t{sets} * 70; slots += 1 + slots / 7) {
      const tier_shape shape = tier_shape_for(slots, sets);
      const std::uint64_t all = std::uint64_t{shape.slots_a_set()} * sets;
      EXPECT_LE(all, slots);
      EXPECT_LE(shape.ways, tier_shape::most_ways);
      EXPECT_GE(all + std::uint64_t{sets} * (shape.buckets + 1), slots) << slots << " beside " << sets;
      EXPECT_EQ(all == 0, slots < sets);
    }
  }
}

TEST(slot_word, keeps_its_fields_apart) {
  const slot_word word(0x3fffff, (std::uint64_t{1} << 40) - 1, slot_word::state::filling);
  EXPECT_EQ(word.tag(), 0x3fffffU);
  EXPECT_EQ(word.stamp(), (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(word.is(), slot_word::state::filling);
  EXPECT_EQ(word.as(slot_word::state::full).tag(), 0x3fffffU);
  EXPECT_EQ(word.as(slot_word::state::full).is(), slot_word::state::full);
  EXPECT_FALSE(slot_word().names(0)) << "zeroed memory is an empty tier";
}

/// One lane, two frames of 64-byte pages, and a tier.
class tiered : public ::testing::TestWithParam<tier_kind> {
 protected:
  explicit tiered(std::uint64_t slots = 8)
      : store_({.pages = 40, .page_bytes = 64}),
        memory_(2, 64, 20'000'000, {slots, GetParam()}),
        cache_(memory_.view(), fake_store_ref{&store_}) {}

  void read(std::uint64_t page) {
    const outcome<std::uint64_t> got = cache_.read<std::uint64_t>({page}, 8);
    EXPECT_EQ(got.code, status::ok);
    EXPECT_EQ(got.value, fake_store::stamp(page, 1)) << "page " << page;
  }
  void read_pages(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t page = first; page < last; ++page) read(page);
  }
  std::uint64_t sum(counter what) const { return memory_.sum(what); }
  /// The slot of the page, or none.
  std::uint32_t slot_of(std::uint64_t page) const {
    for (std::uint32_t slot = 0; slot < memory_.tier_slots(); ++slot) {
      const slot_word word = memory_.slot(slot);
      if (word.is() != slot_word::state::empty && memory_.page_in(slot, word).value == page) return slot;
    }
    return no_slot;
  }

  fake_store store_;
  testing::plain_cache memory_;
  cache_ref<fake_store_ref> cache_;
};

TEST_P(tiered, brings_what_frames_gave_up_without_the_store) {
  read_pages(0, 8);
  EXPECT_EQ(store_.reads(), 8U);
  for (int round = 0; round < 5; ++round) read_pages(0, 8);
  EXPECT_EQ(store_.reads(), 8U);
  EXPECT_EQ(sum(counter::tier_loads), 40U);
  EXPECT_EQ(sum(counter::loads), 48U);
}

TEST_P(tiered, gives_up_the_page_that_was_not_wanted_for_longest) {
  read_pages(0, 10);  // two in frames, eight in slots
  EXPECT_EQ(sum(counter::tier_stores), 8U);
  read_pages(10, 13);
  for (std::uint64_t page = 0; page < 11; ++page) EXPECT_EQ(slot_of(page) == no_slot, page < 3) << page;
}

TEST_P(tiered, brings_back_what_was_written_since_it_had_the_page) {
  read_pages(0, 8);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::uint64_t page = 0; page < 8; ++page)
      ASSERT_EQ(cache_.fetch_add<std::uint64_t>({page}, 0, 1).value, fake_store::stamp(page, 0) + round - 1);
  }
  EXPECT_EQ(store_.reads(), 8U);
  EXPECT_EQ(cache_.flush(lane::solo(), {0}, {40}).code, status::ok);
  for (std::uint64_t page = 0; page < 8; ++page)
    EXPECT_EQ(store_.media_word(page, 0), fake_store::stamp(page, 0) + 3);
}

TEST_P(tiered, copies_a_page_that_stayed_unchanged_once_where_it_is_inclusive) {
  for (int round = 0; round < 10; ++round) read_pages(0, 6);
  if (GetParam() == tier_kind::inclusive)
    EXPECT_EQ(sum(counter::tier_stores), 6U);
  else
    EXPECT_EQ(sum(counter::tier_stores), sum(counter::evictions));
}

TEST_P(tiered, forgets_what_a_span_overwrites) {
  read_pages(0, 8);
  ASSERT_NE(slot_of(3), no_slot);
  const held_page held = cache_.hold(lane::solo(), {3}, span_kind::overwrite);
  ASSERT_TRUE(held.is_ok());
  EXPECT_EQ(slot_of(3), no_slot);
  for (std::uint32_t at = 0; at < 8; ++at)
    store_element<std::uint64_t>(cache_.bytes(held) + at * 8, at == 1 ? fake_store::stamp(3, 1) : 77);
  cache_.release(lane::solo(), held);
  read_pages(4, 8);
  EXPECT_EQ(cache_.read<std::uint64_t>({3}, 0).value, 77U);
}

TEST_P(tiered, has_no_page_whose_load_failed) {
  fake_store broken({.pages = 40, .page_bytes = 64, .bad_reads = {3}});
  const cache_ref<fake_store_ref> cache(memory_.view(), fake_store_ref{&broken});
  for (std::uint64_t page = 0; page < 8; ++page)
    EXPECT_EQ(cache.read<std::uint64_t>({page}, 8).is_ok(), page != 3);
  for (std::uint64_t page = 0; page < 8; ++page) EXPECT_EQ(slot_of(page) == no_slot, page == 3 || page > 5);
}

/// Knows its pages again: by the words that the tests do not write.
struct checked_store_ref : fake_store_ref {
  bool checks() const { return true; }
  template <class Team>
  status check(const Team& /*team*/, page_id page, const std::byte* frame) const {
    const bool good =
        load_element<std::uint64_t>(frame + 8, lane::relaxed) == fake_store::stamp(page.value, 1);
    return good ? status::ok : status::bad_checksum;
  }
};

TEST_P(tiered, is_not_trusted_where_pages_are_checked) {
  const cache_ref<checked_store_ref> cache(memory_.view(), checked_store_ref{{&store_}});
  const auto read_checked = [&](std::uint64_t page) {
    const outcome<std::uint64_t> got = cache.read<std::uint64_t>({page}, 8);
    EXPECT_EQ(got.code, status::ok);
    EXPECT_EQ(got.value, fake_store::stamp(page, 1));
  };
  for (std::uint64_t page = 0; page < 8; ++page) read_checked(page);
  store_element<std::uint64_t>(memory_.slot_bytes(slot_of(3)) + 8, 0xbad);
  read_checked(3);
  EXPECT_EQ(store_.reads(), 9U) << "the store has it as it was";
  for (std::uint64_t page = 0; page < 8; ++page) read_checked(page);
  EXPECT_EQ(store_.reads(), 9U) << "what was bad is forgotten";
}

TEST_P(tiered, serves_prefetches_and_spans) {
  read_pages(0, 8);
  const prefetch_token token = cache_.prefetch(lane::solo(), {2});
  EXPECT_EQ(cache_.wait(lane::solo(), token), status::ok);
  read(2);
  const held_page held = cache_.hold(lane::solo(), {1}, span_kind::read);
  ASSERT_TRUE(held.is_ok());
  EXPECT_EQ(load_element<std::uint64_t>(cache_.bytes(held) + 8, lane::relaxed), fake_store::stamp(1, 1));
  cache_.release(lane::solo(), held);
  EXPECT_EQ(store_.reads(), 8U);
}

TEST_P(tiered, uses_all_its_buckets) {
  fake_store store({.pages = 4000, .page_bytes = 64});
  testing::plain_cache memory(2, 64, 20'000'000, {256, GetParam()});
  const cache_ref<fake_store_ref> cache(memory.view(), fake_store_ref{&store});
  for (std::uint64_t page = 0; page < 4000; ++page) EXPECT_TRUE(cache.read<std::uint64_t>({page}, 8).is_ok());
  for (std::uint32_t slot = 0; slot < memory.tier_slots(); ++slot)
    EXPECT_EQ(memory.slot(slot).is(), slot_word::state::full) << slot;
}

TEST_P(tiered, is_not_asked_in_mode_none) {
  const cache_ref<fake_store_ref, clock, mode::none> cache(memory_.view(), fake_store_ref{&store_});
  for (std::uint64_t k = 0; k < 30; ++k) EXPECT_TRUE(cache.read<std::uint64_t>({k % 6}, 0).is_ok());
  EXPECT_EQ(store_.reads(), 30U);
  EXPECT_EQ(sum(counter::tier_stores), 0U);
}

INSTANTIATE_TEST_SUITE_P(kinds, tiered, ::testing::Values(tier_kind::exclusive, tier_kind::inclusive),
                         [](const auto& info) {
                           return info.param == tier_kind::exclusive ? "exclusive" : "inclusive";
                         });

TEST(page_cache, has_a_tier_of_the_size_it_is_told) {
  const page_cache cache(backend::cpu, {.bytes = 64 * KiB, .page_bytes = 512, .tier_bytes = 256 * KiB}, 1000);
  EXPECT_EQ(cache.frames(), 128U);
  EXPECT_EQ(cache.tier_pages(), 512U);
  EXPECT_THROW(page_cache(backend::cpu, {.bytes = 64 * KiB, .page_bytes = 512, .tier_bytes = 512}, 1000),
               error);
}

}  // namespace
}  // namespace sluice::cache

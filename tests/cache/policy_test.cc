// One contract for all replacement policies, then what each promises of its own.
#include "sluice/cache/policy.h"

#include <gtest/gtest.h>

#include <set>

#include "sluice/cache/claim.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache {
namespace {

constexpr std::uint32_t ways = 16;

/// One set, full of clean pages 0, 1, ..., each in the way of its number, unreferenced.
class full_set {
 public:
  explicit full_set(std::uint32_t size = ways) : memory_(size, 64), directory_(memory_.view().directory) {
    for (std::uint32_t way = 0; way < size; ++way) put(way, clean(way));
  }
  static frame_word clean(std::uint32_t tag) {
    return frame_word().taken_to_load(tag, 1).plus(frame_word::report_ok + frame_word::release_use);
  }
  void put(std::uint32_t way, frame_word word) { directory_.word(way).store(word.bits(), lane::relaxed); }
  frame_word word(std::uint32_t way) const { return directory_.look(way, lane::relaxed); }
  const directory_ref& directory() const { return directory_; }
  template <class Policy>
  std::uint32_t victim(std::uint64_t page) const {
    const directory_place at = directory_.place({page});
    const set_view set(directory_, at);
    const std::uint32_t position = Policy::victim(set);
    return position == no_way ? no_way : set.frame(position);
  }
  template <class Policy>
  claim_result load(std::uint64_t page) const {
    const claim_result claimed = claim<Policy>(set_view(directory_, directory_.place({page})), {{page}});
    if (claimed.frame != no_frame_index) {
      directory_.word(claimed.frame)
          .fetch_add(frame_word::report_ok + frame_word::release_use, lane::relaxed);
    }
    return claimed;
  }

 private:
  testing::plain_cache memory_;
  directory_ref directory_;
};

template <class Policy>
class any_policy : public ::testing::Test {};
using policies = ::testing::Types<clock, fifo, random, s3_fifo>;
TYPED_TEST_SUITE(any_policy, policies);

TYPED_TEST(any_policy, finds_a_victim_in_a_full_set_of_clean_pages) {
  const full_set set;
  for (std::uint64_t page = 100; page < 200; ++page) EXPECT_LT(set.victim<TypeParam>(page), ways);
}

TYPED_TEST(any_policy, never_chooses_a_frame_in_use_held_dirty_or_under_way) {
  full_set set;
  for (std::uint32_t way = 0; way < ways; ++way) {
    const frame_word clean = full_set::clean(way);
    const frame_word busy[] = {clean.used(), clean.held(), clean.dirtied(), clean.dirtied().writing(1),
                               frame_word().taken_to_load(way, 1)};
    if (way != 11) set.put(way, busy[way % 5]);
  }
  for (std::uint64_t page = 100; page < 200; ++page) EXPECT_EQ(set.victim<TypeParam>(page), 11U);
  set.put(11, set.word(11).used());
  EXPECT_EQ(set.victim<TypeParam>(100), no_way);
}

TYPED_TEST(any_policy, finds_the_one_victim_though_it_was_just_used) {
  full_set set;
  for (std::uint32_t way = 0; way < ways; ++way) set.put(way, full_set::clean(way).referenced_now().used());
  set.put(3, full_set::clean(3).referenced_now());
  EXPECT_EQ(set.victim<TypeParam>(100), 3U);
}

TYPED_TEST(any_policy, gives_up_every_page_in_the_long_run) {
  for (const std::uint32_t size : {2U, 3U, 6U, 15U, 16U, 20U, 28U}) {
    const full_set set(size);
    std::set<std::uint32_t> taken;
    for (std::uint64_t page = 100; page < 600; ++page) taken.insert(set.load<TypeParam>(page).frame);
    EXPECT_EQ(taken.size(), size);
  }
}

TYPED_TEST(any_policy, gives_up_every_page_of_a_small_set_to_one_page_and_another) {
  const full_set set(2);
  std::set<std::uint32_t> taken;
  for (std::uint64_t k = 0; k < 200; ++k) taken.insert(set.load<TypeParam>(100 + k % 3).frame);
  taken.erase(no_frame_index);  // resident already
  EXPECT_EQ(taken.size(), 2U);
}

TEST(clock_policy, spares_pages_that_were_used_since_it_passed) {
  full_set set;
  for (std::uint32_t way = 0; way < ways; ++way) {
    if (way != 9) set.put(way, set.word(way).referenced_now());
  }
  EXPECT_EQ(set.victim<clock>(100), 9U);
}

TEST(clock_policy, takes_back_the_references_that_it_passes) {
  for (std::uint64_t page = 100; page < 120; ++page) {
    full_set set;
    for (std::uint32_t way = 0; way < ways; ++way)
      if (way != 9) set.put(way, set.word(way).referenced_now());
    const set_view seen(set.directory(), set.directory().place({page}));
    const std::uint32_t chosen = clock::victim(seen);
    for (std::uint32_t position = 0; position < ways; ++position)
      EXPECT_EQ(seen.word(position).referenced(), position > chosen) << position;
  }
}

TEST(s3_fifo_policy, proves_what_was_used_on_trial_and_passed) {
  for (std::uint64_t page = 100; page < 120; ++page) {
    full_set set;
    for (std::uint32_t way = 0; way < ways; ++way)
      if (way != 9) set.put(way, set.word(way).referenced_now());
    const set_view seen(set.directory(), set.directory().place({page}));
    const std::uint32_t chosen = s3_fifo::victim(seen);
    EXPECT_EQ(seen.frame(chosen), 9U);
    for (std::uint32_t position = 0; position < ways; ++position)
      EXPECT_NE(seen.word(position).referenced() || position == chosen, seen.word(position).proven());
  }
}

TEST(clock_policy, keeps_a_new_page_in_its_preferred_quad_while_it_can) {
  const full_set set;
  for (std::uint64_t page = 100; page < 200; ++page) {
    EXPECT_EQ(set.victim<clock>(page) / 4, set.directory().place({page}).quad());
  }
}

TEST(fifo_policy, takes_the_ways_in_turn_also_past_the_versions_wrap) {
  full_set set;
  for (std::uint32_t way = 0; way < ways; ++way) {
    frame_word word = full_set::clean(way);
    while (word.version() != 0xfffe)
      word = word.taken_to_load(way, 1).plus(frame_word::report_ok + frame_word::release_use);
    set.put(way, word);
  }
  for (std::uint64_t k = 0; k < 4 * ways; ++k) EXPECT_EQ(set.load<fifo>(100 + k).frame, k % ways);
}

TEST(s3_fifo_policy, lets_pages_on_trial_go_before_proven_ones) {
  full_set set;
  for (std::uint32_t way = 0; way < 8; ++way) set.put(way, set.word(way).referenced_now());
  for (std::uint64_t page = 100; page < 140; ++page) set.load<s3_fifo>(page);
  for (std::uint32_t way = 0; way < 8; ++way)
    EXPECT_EQ(set.word(way).tag(), way) << "a scan drove out a page in use";
}

}  // namespace
}  // namespace sluice::cache

// Many lanes on one cache: what they share, what they may not lose, and that none of them waits for ever.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/fake_store.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache {
namespace {

using testing::fake_store;
using testing::fake_store_ref;
using testing::plain_cache;
using cache_type = cache_ref<fake_store_ref>;

class lanes : public ::testing::Test {
 protected:
  void open(std::uint64_t frames, const testing::fake_store_options& options) {
    store_ = std::make_unique<fake_store>(options);
    memory_ = std::make_unique<plain_cache>(frames, options.page_bytes, 20'000'000'000);
    cache_ = cache_type(memory_->view(), fake_store_ref{store_.get()});
  }
  template <class Body>
  void run(lane::grid shape, const Body& body) {
    machine_->start_on_cpu(shape, body)->wait();
  }
  void expect_flushed() {
    EXPECT_EQ(cache_.flush(lane::solo(), {0}, {cache_.pages()}).code, status::ok);
    for (std::uint32_t frame = 0; frame < memory_->shape().frames(); ++frame) {
      EXPECT_TRUE(memory_->word(frame).is_unpinned());
    }
  }

  std::unique_ptr<lane::machine> machine_ = lane::machine::cpu(2);
  std::unique_ptr<fake_store> store_;
  std::unique_ptr<plain_cache> memory_;
  cache_type cache_;
};

TEST_F(lanes, share_one_read_of_a_page_within_a_warp) {
  open(16, {.pages = 100});
  run({1, 32}, [this] {
    const auto got = cache_.read<std::uint64_t>({lane::lane_index() / 8}, 8);
    EXPECT_EQ(got.value, fake_store::stamp(lane::lane_index() / 8, 1));
  });
  EXPECT_EQ(store_->reads(), 4U);
}

TEST_F(lanes, submit_what_a_team_misses_as_one_batch) {
  open(64, {.pages = 100});
  run({1, 32}, [this] {
    const auto warp = lane::warp_team::whole();
    std::uint64_t value = 0;
    EXPECT_EQ(cache_.visit<access::read>(
                  warp, {lane::lane_index()},
                  [&](const std::byte* frame) { value = load_element<std::uint64_t>(frame, lane::relaxed); }),
              status::ok);
    EXPECT_EQ(value, fake_store::stamp(lane::lane_index(), 0));
  });
  EXPECT_EQ(store_->reads(), 32U);
  EXPECT_LE(store_->batches(), 4U);
}

TEST_F(lanes, lose_no_update_in_a_cache_of_two_frames) {
  constexpr std::uint64_t pages = 13;
  open(2, {.pages = pages, .write_reports = 2, .seed = 5});
  run({4, 64}, [this] {
    for (std::uint64_t k = 0; k < 16; ++k) {
      const std::uint64_t page = mix(lane::grid_index() * 31 + k) % pages;
      EXPECT_TRUE(cache_.fetch_add<std::uint64_t>({page}, 16, 1).is_ok());
    }
  });
  expect_flushed();
  std::uint64_t added = 0;
  for (std::uint64_t page = 0; page < pages; ++page)
    added += store_->media_word(page, 2) - fake_store::stamp(page, 2);
  EXPECT_EQ(added, 256U * 16);
}

TEST_F(lanes, read_only_whole_and_right_pages_while_everything_is_evicted) {
  open(20, {.pages = 300, .page_bytes = 128, .read_reports = 2, .seed = 7});
  run({4, 64}, [this] {
    for (std::uint64_t k = 0; k < 64; ++k) {
      const std::uint64_t r = mix(lane::grid_index() * 131 + k);
      const std::uint64_t page = r % 300;
      const auto at = static_cast<std::uint32_t>(r >> 40) % 16;
      const auto got = cache_.read<std::uint64_t>({page}, at * 8);
      EXPECT_EQ(got.code, status::ok);
      EXPECT_EQ(got.value, fake_store::stamp(page, at));
    }
  });
  EXPECT_EQ(store_->writes(), 0U);
}

TEST_F(lanes, end_with_a_status_when_pages_fail_and_leave_the_others_alone) {
  open(8, {.pages = 40, .bad_reads = {3, 17}, .lost_every = 9, .refuse_every = 11});
  run({2, 64}, [this] {
    for (std::uint64_t k = 0; k < 32; ++k) {
      const std::uint64_t page = mix(lane::grid_index() * 7 + k) % 40;
      const auto got = cache_.read<std::uint64_t>({page}, 24);
      if (page == 3 || page == 17) {
        EXPECT_EQ(got.code, status::from_nvme(fake_store::read_failure));
      } else {
        EXPECT_EQ(got.code, status::ok);
        EXPECT_EQ(got.value, fake_store::stamp(page, 3));
      }
    }
  });
}

TEST_F(lanes, hold_spans_and_still_read_elements) {
  open(4, {.pages = 60});
  run({8, 32}, [this] {
    const auto warp = lane::warp_team::whole();
    for (std::uint64_t k = 0; k < 8; ++k) {
      const std::uint64_t page = mix(lane::warp_index() * 13 + k) % 60;
      const held_page held = cache_.hold(warp, {page}, span_kind::read);
      if (!held.is_ok()) {
        EXPECT_EQ(held.code, status::no_frame);
        continue;
      }
      const std::uint64_t other = mix(lane::grid_index() + k) % 60;
      EXPECT_EQ(cache_.read<std::uint64_t>({other}, 0).value, fake_store::stamp(other, 0));
      const std::uint32_t at = lane::lane_index() % 8;
      EXPECT_EQ(load_element<std::uint64_t>(cache_.bytes(held) + at * 8, lane::relaxed),
                fake_store::stamp(page, at));
      cache_.release(warp, held);
    }
  });
  expect_flushed();
}

// A leader once took its frame before the other lanes of its team had come: they were still reading that very
// page, and waited for the span whose end waited for them.
TEST_F(lanes, overwrite_pages_that_others_read_and_evict) {
  constexpr std::uint64_t pages = 24;
  open(4, {.pages = pages, .page_bytes = 256, .seed = 11});
  run({4, 32}, [this] {
    const auto warp = lane::warp_team::whole();
    for (std::uint64_t k = 0; k < 12; ++k) {
      const std::uint64_t page = mix(lane::warp_index() * 17 + k) % pages;
      const held_page held = cache_.hold(warp, {page}, span_kind::overwrite);
      if (held.is_ok()) {
        const std::uint64_t round = mix(lane::warp_index() * 1000 + k) & 0xffff;
        store_element<std::uint64_t>(cache_.bytes(held) + lane::lane_index() * 8,
                                     fake_store::stamp(page, lane::lane_index()) + round);
        cache_.release(warp, held);
      }
      const std::uint64_t other = mix(lane::grid_index() * 3 + k) % pages;
      const auto got = cache_.read<std::uint64_t>({other}, 8 * lane::lane_index());
      EXPECT_EQ(got.code, status::ok);
      EXPECT_EQ(got.value & ~std::uint64_t{0xffff}, fake_store::stamp(other, lane::lane_index()));
    }
  });
  expect_flushed();
  for (std::uint64_t page = 0; page < pages; ++page) {
    for (std::uint32_t at = 1; at < 32; ++at) {
      EXPECT_EQ(store_->media_word(page, at) - fake_store::stamp(page, at),
                store_->media_word(page, 0) - fake_store::stamp(page, 0))
          << "a torn page";
    }
  }
}

TEST_F(lanes, may_leave_early_and_diverge) {
  open(8, {.pages = 50});
  run({2, 64}, [this] {
    if (lane::lane_index() % 5 == 0) return;
    for (std::uint64_t k = 0; k < lane::lane_index() % 7; ++k) {
      const std::uint64_t page = (lane::grid_index() + k) % 50;
      if (lane::lane_index() % 2 == 0) {
        EXPECT_EQ(cache_.read<std::uint64_t>({page}, 0).value, fake_store::stamp(page, 0));
      } else {
        EXPECT_EQ(cache_.write<std::uint64_t>({page}, 8, 1), status::ok);
      }
    }
  });
  expect_flushed();
}

TEST_F(lanes, prefetch_together_and_wait_apart) {
  open(64, {.pages = 64});
  run({1, 32}, [this] {
    const auto warp = lane::warp_team::whole();
    const prefetch_token token = cache_.prefetch(warp, {lane::lane_index() * 2});
    EXPECT_EQ(cache_.wait(warp, token), status::ok);
    EXPECT_EQ(cache_.read<std::uint64_t>({lane::lane_index() * 2}, 8).value,
              fake_store::stamp(lane::lane_index() * 2, 1));
  });
  EXPECT_GE(store_->reads(), 32U);
}

}  // namespace
}  // namespace sluice::cache

// The cache's owner: which options it takes, and what its memory does under lanes.
#include "sluice/cache/page_cache.h"

#include <gtest/gtest.h>

#include "sluice/cache/flush_pages.h"
#include "tests/support/fake_store.h"
#include "tests/support/refusal.h"

namespace sluice::cache {
namespace {

using testing::fake_store;
using testing::fake_store_ref;

TEST(page_cache, refuses_sizes_that_make_no_cache) {
  EXPECT_THROW(page_cache(backend::cpu, {.page_bytes = 1000}, 10), error);
  EXPECT_THROW(page_cache(backend::cpu, {.page_bytes = 256}, 10), error);
  EXPECT_THROW(page_cache(backend::cpu, {.bytes = 4096, .page_bytes = 4096}, 10), error);
  EXPECT_THROW(page_cache(backend::cpu, {.page_bytes = 4096, .reports = 16}, 10), error);
  EXPECT_THROW(page_cache(backend::cpu, {.bytes = 8192, .page_bytes = 4096}, std::uint64_t{1} << 23), error);
}

TEST(page_cache, refuses_a_store_that_does_not_fit) {
  const page_cache cache(backend::cpu, {.bytes = 64 * KiB, .page_bytes = 512, .reports = 2}, 100);
  fake_store other_size({.pages = 100, .page_bytes = 1024});
  fake_store too_long({.pages = 101, .page_bytes = 512});
  fake_store too_many({.pages = 100, .page_bytes = 512, .write_reports = 3});
  EXPECT_THROW(cache.ref(fake_store_ref{&other_size}), error);
  EXPECT_THROW(cache.ref(fake_store_ref{&too_long}), error);
  EXPECT_THROW(cache.ref(fake_store_ref{&too_many}), error);
}

/// Lanes add 1 to every page's first word, all over the pages, then read others'.
template <class Cache>
struct add_kernel {
  Cache cache;
  std::uint64_t pages;
  std::uint32_t* failures;

  SLUICE_HD void operator()() const {
    for (std::uint64_t page = lane::grid_index(); page < pages * 8; page += lane::grid_lanes()) {
      if (!cache.template fetch_add<std::uint64_t>({page % pages}, 0, 1).is_ok()) {
        lane::on_device(*failures).fetch_add(1, lane::relaxed);
      }
    }
  }
};

TEST(page_cache, counts_adds_flushes_and_tells_what_it_did) {
  constexpr std::uint64_t pages = 500;
  fake_store store({.pages = pages, .page_bytes = 512, .write_reports = 2});
  const page_cache cache(backend::cpu, {.bytes = 32 * KiB, .page_bytes = 512, .reports = 2}, pages);
  const auto ref = cache.ref(fake_store_ref{&store});
  const auto machine = lane::machine::cpu(2);
  std::uint32_t failures = 0;
  using kernel = add_kernel<std::remove_const_t<decltype(ref)>>;
  lane::launch(*machine, {8, 64}, kernel{ref, pages, &failures});
  EXPECT_EQ(failures, 0U);
  const flush_report report = flush_pages(*machine, ref, {0}, {pages});
  EXPECT_EQ(report.code, status::ok);
  for (std::uint64_t page = 0; page < pages; ++page) {
    EXPECT_EQ(store.media_word(page, 0), fake_store::stamp(page, 0) + 8);
  }
  const statistics counted = cache.counted();
  EXPECT_EQ(counted.accesses, pages * 8);
  EXPECT_EQ(counted.bytes_asked, pages * 8 * 8);
  EXPECT_EQ(counted.loads, store.reads());
  EXPECT_EQ(counted.writes, store.writes());
  EXPECT_GE(counted.misses, pages);
}

/// The host once copied the counters as plain bytes; ThreadSanitizer tells.
TEST(page_cache, tells_what_lanes_counted_while_they_count_on) {
  fake_store store({.pages = 50, .page_bytes = 512});
  const page_cache cache(backend::cpu, {.bytes = 32 * KiB, .page_bytes = 512}, 50);
  const auto ref = cache.ref(fake_store_ref{&store});
  const auto machine = lane::machine::cpu(2);
  std::uint32_t failures = 0;
  using kernel = add_kernel<std::remove_const_t<decltype(ref)>>;
  const auto launch = lane::start(*machine, {8, 64}, kernel{ref, 50, &failures});
  std::uint64_t before = 0;
  while (!launch->finished()) {
    const std::uint64_t now = cache.counted().accesses;
    EXPECT_GE(now, before);
    before = now;
  }
  launch->wait();
  EXPECT_EQ(cache.counted().accesses, 400U);
}

TEST(page_cache, ends_every_wait_when_it_is_told_to_stop) {
  fake_store store({.pages = 10, .page_bytes = 512, .lost_every = 1, .lost_looks = ~0U});
  page_cache cache(backend::cpu, {.bytes = 4 * KiB, .page_bytes = 512}, 10);
  cache.stop_waits();
  EXPECT_EQ(cache.ref(fake_store_ref{&store}).read<std::uint32_t>({1}, 0).code, status::cancelled);
}

}  // namespace
}  // namespace sluice::cache

// An array as lanes use it: values, assignment, spans, and the mailbox.
#include "sluice/array/array_ref.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

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

struct triple {
  std::uint64_t a, b, c;
};

struct rig {
  explicit rig(const fake_store_options& options, std::uint64_t frames = 4)
      : store(options),
        memory(frames, options.page_bytes, 20'000'000),
        cache(memory.view(), fake_store_ref{&store}) {}
  template <class T>
  array_ref<T, cache_type> array(std::uint64_t first_byte, std::uint64_t size) {
    static_assert(std::is_trivially_copyable_v<array_ref<T, cache_type>>);
    return {cache, first_byte, size, &failures};
  }

  fake_store store;
  plain_cache memory;
  cache_type cache;
  mailbox failures;
};

TEST(array_ref, is_read_and_assigned_like_memory) {
  rig rig({.pages = 20, .page_bytes = 64});
  const auto a = rig.array<std::uint64_t>(64, 100);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(a[i], fake_store::stamp(1 + i / 8, i % 8));
  a[17] = 5;
  a[18] = a[17];
  const std::uint64_t sum = a[17] + a[18];
  EXPECT_EQ(sum, 10U);
  EXPECT_EQ(a.fetch_add(17, 3), 5U);
  EXPECT_EQ(a[17], 8U);
  EXPECT_EQ(rig.failures.is, mailbox::empty);
}

TEST(array_ref, never_touches_a_neighbours_memory) {
  rig rig({.pages = 20, .page_bytes = 64});
  const auto a = rig.array<std::uint32_t>(64, 10);
  EXPECT_EQ(a.read(10), 0U);
  EXPECT_EQ(a.write(10, 7), status::out_of_range);
  EXPECT_EQ(a.try_read(~std::uint64_t{0}).code, status::out_of_range);
  EXPECT_EQ(a.fetch_add(11, 1), 0U);
  EXPECT_EQ(rig.store.reads(), 0U);
  EXPECT_EQ(rig.failures.is, mailbox::full);
  EXPECT_EQ(rig.failures.code, status::out_of_range.bits());
  EXPECT_EQ(rig.failures.element, 10U);
  EXPECT_EQ(rig.failures.failures, 3U);
}

TEST(array_ref, reads_and_writes_elements_that_straddle_pages) {
  rig rig({.pages = 20, .page_bytes = 64}, 2);
  const auto a = rig.array<triple>(8, 50);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const triple got = a[i];
    const auto expected = [](std::uint64_t word) { return fake_store::stamp(word / 8, word % 8); };
    EXPECT_EQ(got.a, expected(1 + 3 * i));
    EXPECT_EQ(got.b, expected(2 + 3 * i));
    EXPECT_EQ(got.c, expected(3 + 3 * i));
  }
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(a.wait(a.read_async(i)).c, triple(a[i]).c);
  for (std::uint64_t i = 0; i < 50; ++i) a[i] = triple{i, i * 2, i * 3};
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(triple(a[i]).c, i * 3);
  EXPECT_EQ(rig.cache.flush(lane::solo(), {0}, {20}).code, status::ok);
  EXPECT_EQ(rig.store.media_word(0, 0), fake_store::stamp(0, 0)) << "the word before the array";
  EXPECT_EQ(rig.store.media_word(0, 7), 2U);
}

TEST(array_ref, leaves_the_first_failure_in_the_mailbox) {
  rig rig({.pages = 20, .page_bytes = 64, .bad_reads = {5, 6}});
  const auto a = rig.array<std::uint64_t>(64, 100);
  EXPECT_EQ(a[4 * 8 + 3], 0U);
  EXPECT_EQ(a[5 * 8 + 1], 0U);
  EXPECT_EQ(rig.failures.is, mailbox::full);
  EXPECT_EQ(rig.failures.code, fake_store::read_failure);
  EXPECT_EQ(rig.failures.element, 35U);
  EXPECT_EQ(rig.failures.page, 5U);
  EXPECT_EQ(rig.failures.failures, 2U);
  EXPECT_EQ(a.try_read(35).code, status::from_nvme(fake_store::read_failure));
  EXPECT_EQ(rig.failures.failures, 2U) << "try_read tells the caller, not the mailbox";
}

TEST(array_ref, holds_the_elements_of_a_page_in_a_span) {
  rig rig({.pages = 20, .page_bytes = 64});
  const auto a = rig.array<std::uint64_t>(24, 30);
  EXPECT_EQ(a.pages(), 5U);
  EXPECT_EQ(a.page_of(4), 0U);
  EXPECT_EQ(a.page_of(5), 1U);
  std::uint64_t seen = 0;
  for (std::uint64_t p = 0; p < a.pages(); ++p) {
    const auto span = a.span(lane::solo(), p);
    ASSERT_TRUE(span.is_ok());
    EXPECT_EQ(span.first(), seen);
    for (std::uint32_t k = 0; k < span.size(); ++k) {
      EXPECT_EQ(span[k], std::uint64_t{a[span.first() + k]});
      EXPECT_EQ(span.data()[k], span[k]);
    }
    seen += span.size();
  }
  EXPECT_EQ(seen, 30U);
  EXPECT_EQ(a.span(lane::solo(), 5).code(), status::out_of_range);
}

TEST(array_ref, walks_pages_that_are_resident_or_not) {
  rig rig({.pages = 40, .page_bytes = 64}, 16);
  const auto a = rig.array<std::uint64_t>(24, 250);
  for (std::uint64_t i = 0; i < a.size(); i += 40) (void)a.read(i);
  std::vector<std::uint32_t> seen(a.size());
  lane::machine::cpu(2)
      ->start_on_cpu({1, 32},
                     [&] {
                       const auto team = lane::warp_team::whole();
                       const auto note = [&](const std::uint64_t* at, std::uint64_t first,
                                             std::uint32_t count) {
                         for (std::uint32_t k = team.rank(); k < count; k += team.size()) {
                           EXPECT_EQ(at[k], fake_store::stamp((3 + first + k) / 8, (3 + first + k) % 8));
                           ++seen[first + k];
                         }
                       };
                       EXPECT_EQ(a.walk(team, 0, a.pages(), note), status::ok);
                     })
      ->wait();
  for (std::uint32_t times : seen) EXPECT_EQ(times, 1U);
}

TEST(array_ref, walks_past_pages_that_cannot_be_read) {
  rig rig({.pages = 20, .page_bytes = 64, .bad_reads = {5}});
  const auto a = rig.array<std::uint64_t>(0, 160);
  std::uint32_t pages = 0;
  const auto count = [&](const std::uint64_t*, std::uint64_t, std::uint32_t) { ++pages; };
  EXPECT_EQ(a.walk(lane::solo(), 0, 10, count), status::from_nvme(fake_store::read_failure));
  EXPECT_EQ(pages, 9U);
  rig.failures = {};
  lane::machine::cpu(1)
      ->start_on_cpu({1, 32},
                     [&] { EXPECT_FALSE(a.walk(lane::warp_team::whole(), 0, 10, [](auto...) {}).is_ok()); })
      ->wait();
  EXPECT_EQ(rig.failures.page, 5U);
  EXPECT_EQ(a.walk(lane::solo(), 19, 21, count), status::out_of_range);
  EXPECT_EQ(pages, 10U);
}

TEST(array_ref, overwrites_pages_through_spans) {
  rig rig({.pages = 20, .page_bytes = 64});
  const auto a = rig.array<std::uint32_t>(0, 320);
  for (std::uint64_t p = 0; p < 20; ++p) {
    const auto span = a.span(lane::solo(), p, span_kind::overwrite);
    ASSERT_TRUE(span.is_ok());
    for (std::uint32_t k = 0; k < span.size(); ++k) span.set(k, static_cast<std::uint32_t>(span.first() + k));
  }
  EXPECT_EQ(rig.store.reads(), 0U);
  for (std::uint64_t i = 0; i < 320; ++i) EXPECT_EQ(a[i], i);
}

TEST(array_ref, sets_neighbours_of_a_span_at_once) {
  rig rig({.pages = 20, .page_bytes = 64});
  const auto a = rig.array<std::uint32_t>(8, 100);
  {
    const auto span = a.span(lane::solo(), 0, span_kind::write);
    const std::uint32_t four[] = {1, 2, 3, 4}, three[] = {5, 6, 7};
    span.set(2, four);
    span.set(6, three);
  }
  for (std::uint32_t i = 2; i < 9; ++i) EXPECT_EQ(a[i], i - 1);
  EXPECT_EQ(a[1], fake_store::stamp(0, 1) >> 32);
}

TEST(array_ref, declines_a_span_and_tells_nobody_but_the_caller) {
  rig rig({.pages = 20, .page_bytes = 64}, 2);
  const auto a = rig.array<std::uint64_t>(0, 160);
  const auto held = a.span(lane::solo(), 0);
  ASSERT_TRUE(held.is_ok());
  for (const span_kind kind : {span_kind::read, span_kind::write, span_kind::overwrite})
    EXPECT_EQ(a.try_span(lane::solo(), 1, kind).code(), status::no_frame);
  EXPECT_EQ(a.try_span(lane::solo(), 20).code(), status::out_of_range);
  EXPECT_EQ(rig.failures.is, mailbox::empty);
  a.report(status::no_frame, array_operation::write, 8);
  EXPECT_EQ(rig.failures.is, mailbox::full);
  EXPECT_EQ(rig.failures.code, status::no_frame.bits());
  EXPECT_EQ(rig.failures.element, 8U);
  EXPECT_EQ(rig.failures.page, 1U);
}

TEST(array_ref, waits_for_what_was_asked_for_ahead) {
  rig rig({.pages = 20, .page_bytes = 64, .bad_reads = {6}});
  const auto a = rig.array<std::uint64_t>(0, 160);
  const cache::prefetch_token good = a.prefetch(8);
  const cache::prefetch_token bad = a.prefetch(50);
  EXPECT_EQ(a.wait(good), status::ok);
  EXPECT_EQ(a.wait(bad), status::from_nvme(fake_store::read_failure));
  EXPECT_EQ(a.wait(a.prefetch(1000)), status::ok);
  EXPECT_EQ(a[8], fake_store::stamp(1, 0));
}

TEST(array_ref, has_several_reads_under_way) {
  rig rig({.pages = 20, .page_bytes = 64, .bad_reads = {3}}, 8);
  const auto a = rig.array<std::uint64_t>(0, 160);
  const auto first = a.read_async(0), second = a.read_async(9), bad = a.read_async(24),
             beyond = a.read_async(160);
  EXPECT_EQ(rig.store.reads(), 3U);
  EXPECT_EQ(a.wait(second), fake_store::stamp(1, 1));
  EXPECT_EQ(a.wait(first), fake_store::stamp(0, 0));
  EXPECT_EQ(rig.failures.is, mailbox::empty);
  EXPECT_EQ(a.wait(bad), 0U);
  EXPECT_EQ(rig.failures.element, 24U);
  EXPECT_EQ(a.wait(beyond), 0U);
  EXPECT_EQ(rig.failures.failures, 2U);
}

TEST(array_ref, sums_and_fills_on_many_lanes) {
  rig rig({.pages = 64, .page_bytes = 256}, 8);
  const auto a = rig.array<std::uint32_t>(0, 64 * 64);
  const auto machine = lane::machine::cpu(2);
  machine
      ->start_on_cpu({4, 64},
                     [a] {
                       for (std::uint64_t i = lane::grid_index(); i < a.size(); i += lane::grid_lanes())
                         a[i] = static_cast<std::uint32_t>(i * 3);
                     })
      ->wait();
  machine
      ->start_on_cpu({4, 64},
                     [a] {
                       for (std::uint64_t i = lane::grid_index(); i < a.size(); i += lane::grid_lanes())
                         EXPECT_EQ(a[i], i * 3);
                     })
      ->wait();
  EXPECT_EQ(rig.failures.is, mailbox::empty);
}

}  // namespace
}  // namespace sluice

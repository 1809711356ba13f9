// Small worlds in which lanes share a cache, and what must be true in them at every step: for the schedule
// explorer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/lane/explore.h"
#include "sluice/lane/identity.h"
#include "tests/support/fake_store.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache::scenarios {

using lane::explore::fail;
using testing::fake_store;
using testing::fake_store_ref;

/// A count a page, beside the cache. Relaxed: it orders nothing that ThreadSanitizer could take for the
/// cache's.
class tally {
 public:
  explicit tally(std::uint64_t pages) : counts_(pages) {}
  std::uint64_t of(std::uint64_t page) const { return counts_[page].load(std::memory_order_relaxed); }
  void add(std::uint64_t page, std::int64_t by) {
    counts_[page].fetch_add(static_cast<std::uint64_t>(by), std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<std::uint64_t>> counts_;
};

/// One run: a store, a cache, and the truth beside them. Words count the additions made to them in their low
/// 16 bits.
class world {
 public:
  static constexpr std::uint32_t page_bytes = 128;
  static constexpr std::uint32_t words = page_bytes / 8;
  using cache_type = cache_ref<fake_store_ref>;

  world(std::uint64_t frames, testing::fake_store_options options, const testing::tier_size& tier,
        std::uint64_t seed)
      : seed_(seed),
        store_(with(std::move(options), seed)),
        memory_(frames, page_bytes, 400'000'000, tier),
        exclusive_(tier.kind == tier_kind::exclusive),
        cache(memory_.view(), fake_store_ref{&store_}),
        begun_(store_.options().pages),
        ended_(store_.options().pages) {}

  /// A number that depends on the run, the lane and `k`.
  std::uint64_t dice(std::uint64_t k) const { return mix(seed_ * 1000003 + lane::grid_index() * 257 + k); }
  /// The same for all lanes of a warp, without their meeting for it.
  std::uint64_t team_dice(std::uint64_t k) const {
    return mix(seed_ * 7000003 + lane::warp_index() * 65537 + k);
  }
  std::uint64_t pages() const { return store_.options().pages; }
  fake_store& store() { return store_; }

  void read(std::uint64_t page, std::uint32_t at) {
    const std::uint64_t least = at == 0 ? ended_.of(page) : 0;
    const outcome<std::uint64_t> got = cache.read<std::uint64_t>({page}, at * 8);
    if (check(got.code, page)) check_value(got.value, page, at, least);
    check_frames();
  }
  void add(std::uint64_t page) {
    begun_.add(page, 1);
    const outcome<std::uint64_t> got = cache.fetch_add<std::uint64_t>({page}, 0, 1);
    if (!check(got.code, page)) begun_.add(page, -1);
    if (got.code.is_ok()) ended_.add(page, 1);
    check_frames();
  }
  /// Sets all words of the page but the first, whose additions it must keep: through a writing span.
  void stamp_by_span(const lane::warp_team& team, std::uint64_t page, std::uint64_t generation) {
    const held_page held = cache.hold(team, {page}, span_kind::write);
    if (!held.is_ok()) return void(check(held.code, page));
    for (std::uint32_t at = 1 + team.rank(); at < words; at += team.size()) {
      store_element<std::uint64_t>(cache.bytes(held) + at * 8, fake_store::stamp(page, at) + generation);
    }
    cache.release(team, held);
    check_frames();
  }
  void overwrite(const lane::warp_team& team, std::uint64_t page, std::uint64_t generation) {
    const held_page held = cache.hold(team, {page}, span_kind::overwrite);
    if (!held.is_ok()) return void(check(held.code, page));
    for (std::uint32_t at = team.rank(); at < words; at += team.size()) {
      store_element<std::uint64_t>(cache.bytes(held) + at * 8,
                                   fake_store::stamp(page, at) + (at == 0 ? 0 : generation));
    }
    cache.release(team, held);
    check_frames();
  }
  /// Reads the page through a span, and elements of others meanwhile.
  void walk(const lane::warp_team& team, std::uint64_t page, std::uint64_t other) {
    const held_page held = cache.hold(team, {page}, span_kind::read);
    if (!held.is_ok()) return void(check(held.code, page));
    read(other, 3);
    for (std::uint32_t at = team.rank(); at < words; at += team.size()) {
      check_value(load_element<std::uint64_t>(cache.bytes(held) + at * 8, lane::relaxed), page, at, 0);
    }
    cache.release(team, held);
  }
  void flush() {
    std::vector<std::uint64_t> least(pages());
    for (std::uint64_t page = 0; page < pages(); ++page) least[page] = ended_.of(page);
    const flush_report report = cache.flush(lane::solo(), {0}, {pages()});
    if (!report.code.is_ok()) return void(check(report.code, report.page.value));
    if (SLUICE_TSAN) return;  // a later write may be on its way there
    for (std::uint64_t page = 0; page < pages(); ++page) {
      if (store_.media_word(page, 0) - fake_store::stamp(page, 0) < least[page])
        fail("flush returned before the write");
    }
  }

  /// After the run: everything that was written is in the store, once, and nowhere else.
  std::string loss() {
    const flush_report report = cache.flush(lane::solo(), {0}, {pages()});
    if (!report.code.is_ok()) return "the last flush failed";
    for (std::uint64_t page = 0; page < pages(); ++page) {
      if (store_.media_word(page, 0) != fake_store::stamp(page, 0) + ended_.of(page)) return "lost an update";
      for (std::uint32_t at = 2; at < words; ++at) {
        if (store_.media_word(page, at) - fake_store::stamp(page, at) !=
            store_.media_word(page, 1) - fake_store::stamp(page, 1)) {
          return "a torn page";
        }
      }
    }
    return {};
  }

 private:
  static testing::fake_store_options with(testing::fake_store_options options, std::uint64_t seed) {
    options.page_bytes = page_bytes;
    options.seed = seed;
    options.others_help = seed % 4 != 0;  // else nobody's progress may depend on others' looks
    return options;
  }
  /// True where the access went well. Only what the store is set to do may fail.
  bool check(status code, std::uint64_t page) {
    if (code.is_ok()) return true;
    if (code == status::timed_out) fail("a wait did not end");
    if (code == status::no_frame) return false;
    if (code == status::from_nvme(fake_store::read_failure)) {
      if (!store_.options().bad_reads.contains(page)) fail("another page's failure");
      return false;
    }
    if (code == status::from_nvme(fake_store::write_failure) && !store_.options().bad_writes.empty() &&
        store_.options().sources == 1)
      return false;
    fail("a status from nowhere");
  }
  void check_value(std::uint64_t value, std::uint64_t page, std::uint32_t at, std::uint64_t least) {
    if (value >> 16 != fake_store::stamp(page, at) >> 16) fail("another page's bytes");
    if (at == 0 && (value & 0xffff) < least) fail("a stale read");
    if (at == 0 && (value & 0xffff) > begun_.of(page)) fail("a value that nobody wrote");
  }
  /// What holds between any two steps: one frame a page, and clean frames equal the store.
  void check_frames() {
    if (SLUICE_TSAN) return;  // it would report the looks themselves: they go past the protocol
    for (std::uint32_t frame = 0; frame < memory_.shape().frames(); ++frame) {
      const frame_word word = memory_.word(frame);
      if (word.is_absent()) continue;
      for (std::uint32_t other = 0; other < frame; ++other) {
        if (memory_.word(other).names(word.tag())) fail("two frames for one page");
      }
      if (!word.is_clean()) continue;
      const page_id page = cache.directory().page(frame, word);
      if (differs(memory_.view().frames + std::size_t{frame} * page_bytes, page))
        fail("a clean frame differs from the store");
    }
    check_slots();
  }

  /// What holds of the second tier but under the set's lock: no two slots for one page, and full ones that
  /// may be drained equal the store. An exclusive one has no page that is in a frame.
  void check_slots() {
    if (SLUICE_TSAN || memory_.word(0).locked()) return;
    for (std::uint32_t slot = 0; slot < memory_.tier_slots(); ++slot) {
      const slot_word word = memory_.slot(slot);
      if (word.is() == slot_word::state::empty) continue;
      for (std::uint32_t other = 0; other < slot; ++other)
        if (memory_.slot(other).names(word.tag())) fail("two slots for one page");
      if (word.is() != slot_word::state::full) continue;
      if (has_frame(word.tag())) {
        if (exclusive_) fail("a page both in a frame and in the second tier");
        continue;
      }
      const page_id page = memory_.page_in(slot, word);
      if (differs(memory_.slot_bytes(slot), page)) fail("a full slot differs from the store");
    }
  }
  bool has_frame(std::uint32_t tag) const {
    for (std::uint32_t frame = 0; frame < memory_.shape().frames(); ++frame)
      if (memory_.word(frame).names(tag)) return true;
    return false;
  }
  bool differs(const std::byte* bytes, page_id page) {
    for (std::uint32_t at = 0; at < words; ++at) {
      std::uint64_t value;
      std::memcpy(&value, bytes + at * 8, 8);
      if (value != store_.media_word(page.value, at)) return true;
    }
    return false;
  }

  std::uint64_t seed_;
  fake_store store_;
  testing::plain_cache memory_;
  bool exclusive_;

 public:
  cache_type cache;

 private:
  tally begun_;  // additions that were started, and that returned ok
  tally ended_;
};

struct scenario {
  const char* name;
  std::uint64_t frames;
  testing::fake_store_options store;
  std::uint32_t warps;
  std::uint32_t lanes;
  void (*body)(world&);
  testing::tier_size tier = {};
};

inline void reads_and_adds(world& w) {
  for (std::uint64_t k = 0; k < 4; ++k) {
    const std::uint64_t page = w.dice(k) % w.pages();
    if (w.dice(k + 100) % 2 == 0) {
      w.add(page);
    } else {
      w.read(page, static_cast<std::uint32_t>(w.dice(k + 200) % 2));
    }
  }
}

inline void adds_to_one_page_and_flushes(world& w) {
  for (std::uint64_t k = 0; k < 3; ++k) {
    if (lane::lane_index() == 0 && k == 1) {
      w.flush();
    } else if (w.dice(k) % 4 == 0) {
      w.read(w.dice(k + 50) % w.pages(), 0);
    } else {
      w.add(w.dice(k + 9) % 2);
    }
  }
}

inline void spans_among_elements(world& w) {
  const auto team = lane::warp_team::whole();
  for (std::uint64_t k = 0; k < 2; ++k) {
    const std::uint64_t dice = w.team_dice(k);
    const std::uint64_t page = dice % w.pages();
    // Two spans may write to one page at once, and then mix: each page has one warp that does.
    if ((dice >> 20 & 1) != 0 || page % 3 != lane::warp_index()) {
      w.walk(team, page, w.dice(k + 30) % w.pages());
    } else {
      w.stamp_by_span(team, page, 1 + (dice >> 30 & 0xff));
    }
    w.add(w.dice(k + 60) % w.pages());
  }
}

inline void overwrites_among_reads(world& w) {
  const auto team = lane::warp_team::whole();
  for (std::uint64_t k = 0; k < 3; ++k) {
    const std::uint64_t dice = w.team_dice(k);
    if ((dice >> 20 & 1) != 0) w.overwrite(team, dice % w.pages(), 1 + (dice >> 30 & 0xff));
    w.read(w.dice(k + 30) % w.pages(), 1);
  }
}

inline const std::vector<scenario>& all() {
  static const std::vector<scenario> list = {
      {"reads_and_adds_in_two_frames", 2, {.pages = 3}, 2, 3, reads_and_adds},
      {"reads_and_adds_over_mirrors",
       3,
       {.pages = 5, .read_reports = 2, .write_reports = 2},
       2,
       4,
       reads_and_adds},
      {"a_lane_alone_waits_for_pages_of_several_reports",
       2,
       {.pages = 4, .read_reports = 2, .write_reports = 4},
       1,
       1,
       reads_and_adds},
      {"failures_among_several_reports",
       2,
       {.pages = 4, .read_reports = 2, .write_reports = 4, .bad_reads = {1}, .bad_writes = {{0, 1}}},
       2,
       2,
       reads_and_adds},
      {"the_last_of_three_sources_has_it",
       2,
       {.pages = 4,
        .write_reports = 3,
        .sources = 3,
        .bad_sources = {0, 1},
        .lost_every = 5,
        .lost_looks = 8},
       2,
       2,
       reads_and_adds},
      {"one_copy_of_two_fails_its_writes",
       2,
       {.pages = 4,
        .read_reports = 2,
        .write_reports = 4,
        .sources = 2,
        .bad_sources = {3},
        .bad_writes = {{0, 2}, {1, 2}, {2, 2}}},
       2,
       2,
       reads_and_adds},
      {"lost_queues_and_refusals",
       2,
       {.pages = 4, .write_reports = 2, .lost_every = 4, .lost_looks = 8, .refuse_every = 5},
       2,
       2,
       reads_and_adds},
      {"failing_reads", 2, {.pages = 4, .bad_reads = {1}}, 2, 2, reads_and_adds},
      {"failing_writes", 2, {.pages = 4, .bad_writes = {{0, 1}, {2, 1}}}, 2, 2, reads_and_adds},
      {"flush_among_adds", 2, {.pages = 3}, 2, 2, adds_to_one_page_and_flushes},
      {"spans_among_elements", 3, {.pages = 5}, 3, 2, spans_among_elements},
      {"overwrites_among_reads", 3, {.pages = 4}, 3, 2, overwrites_among_reads},
      {"an_exclusive_tier", 2, {.pages = 6}, 2, 3, reads_and_adds, {2, tier_kind::exclusive}},
      {"an_inclusive_tier", 2, {.pages = 6}, 2, 3, reads_and_adds, {3, tier_kind::inclusive}},
      {"an_exclusive_tier_under_spans",
       3,
       {.pages = 5},
       3,
       2,
       spans_among_elements,
       {2, tier_kind::exclusive}},
      {"an_inclusive_tier_under_overwrites",
       3,
       {.pages = 5},
       3,
       2,
       overwrites_among_reads,
       {2, tier_kind::inclusive}},
      {"an_exclusive_tier_under_overwrites",
       3,
       {.pages = 5},
       3,
       2,
       overwrites_among_reads,
       {2, tier_kind::exclusive}},
      {"a_tier_over_a_failing_mirror",
       2,
       {.pages = 5,
        .read_reports = 2,
        .write_reports = 4,
        .sources = 2,
        .bad_sources = {3},
        .bad_writes = {{0, 2}, {1, 2}, {2, 2}}},
       2,
       2,
       reads_and_adds,
       {2, tier_kind::inclusive}},
  };
  return list;
}

/// Runs one scenario under one schedule; what went wrong, or nothing.
inline std::string run(const scenario& what, lane::explore::policy how, std::uint64_t seed) {
  const auto w = std::make_unique<world>(what.frames, what.store, what.tier, seed);
  const lane::explore::result result = lane::explore::run(
      {.how = how, .seed = seed, .expected_steps = 2000, .warps = what.warps, .lanes = what.lanes},
      [&w, &what] { what.body(*w); });
  return result.ok ? w->loss() : result.why;
}

}  // namespace sluice::cache::scenarios

// Small worlds in which lanes record what they do to a few elements of a cache that holds hardly any of them:
// for the schedule explorer, and for the checker of histories afterwards.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/cache/cache_ref.h"
#include "sluice/lane/explore.h"
#include "sluice/lane/identity.h"
#include "tests/support/fake_store.h"
#include "tests/support/history.h"
#include "tests/support/mixed_lanes.h"
#include "tests/support/plain_cache.h"

namespace sluice::cache::linear {

using lane::explore::fail;
using testing::element_places;
using testing::fake_store;
using testing::fake_store_ref;
using testing::operation;

struct scenario {
  const char* name;
  std::uint64_t frames;
  testing::fake_store_options store;
  std::uint32_t warps;
  std::uint32_t lanes;
  std::uint32_t operations;
  std::uint32_t span_every = 0;   ///< see mixed_lanes
  std::uint32_t flush_every = 0;  ///< of a warp's first lane; 0: never
  testing::tier_size tier = {};
  bool one_watches = false;  ///< the first warp reads one element over and over, others read all
  std::string (*run)(const scenario&, lane::explore::policy, std::uint64_t seed);
};

template <class Cache>
class world {
 public:
  static constexpr std::uint32_t page_bytes = 128;

  world(const scenario& what, std::uint64_t seed)
      : what_(what),
        store_(with(what.store, seed)),
        memory_(what.frames, page_bytes, 400'000'000, what.tier),
        record_(backend::cpu, what.warps, most_records(), what.lanes),
        work_{Cache(memory_.view(), fake_store_ref{&store_}),
              places(),
              record_.ref(),
              seed,
              what.operations,
              what.span_every} {
    for (std::uint64_t element = 0; element < places().elements(); ++element)
      start_.push_back(in_store(element));
  }

  /// What one lane does.
  void play() {
    for (std::uint32_t k = 0; k < what_.operations; ++k) {
      if (what_.flush_every != 0 && lane::lane_index() == 0 && work_.dice(k + 500) % what_.flush_every == 0)
        flush();
      if (what_.one_watches)
        work_.template use<std::uint64_t>(lane::warp_index() == 0 ? 0 : work_.dice(k) % places().pages * 2,
                                          operation::kind::read, k);
      else if (what_.span_every != 0 && work_.team_dice(k) % what_.span_every == 0)
        work_.use_span(work_.team_dice(k + 1000), k);
      else
        work_.use_element(work_.dice(k), k);
    }
  }

  /// What no order explains, with all that the store holds in the end; or nothing.
  std::string wrong() {
    // Each tries a failing page twice.
    status flushed = status::aborted;
    for (int k = 0; k < 4 && !flushed.is_ok(); ++k)
      flushed = work_.cache.flush(lane::solo(), {0}, {places().pages}).code;
    if (!flushed.is_ok()) return "the last flush failed";
    std::vector<operation> all = record_.operations();
    std::uint64_t end = 0;
    for (const operation& o : all) {
      const std::string failure = unexpected(status::from_bits(o.code));
      if (!failure.empty()) return failure;
      end = std::max(end, o.returned);
    }
    for (std::uint64_t element = 0; element < places().elements(); ++element) {
      operation last = seen_in_store(element, end + 1);
      last.returned = end + 1;
      last.lane = record_.lanes();
      all.push_back(last);
    }
    return testing::unexplained(all, [this](std::uint64_t element) { return start_[element]; });
  }

 private:
  element_places places() const { return {page_bytes, what_.store.pages, 1}; }
  /// Of one lane.
  std::uint32_t most_records() const {
    const auto all = static_cast<std::uint32_t>(places().elements());
    return what_.operations *
           (1 + (what_.span_every != 0 ? places().in_page() : 0) + (what_.flush_every != 0 ? all : 0));
  }
  static testing::fake_store_options with(testing::fake_store_options options, std::uint64_t seed) {
    options.page_bytes = page_bytes;
    options.seed = seed;
    options.others_help = seed % 4 != 0;
    return options;
  }
  /// Only what the store is set to do may fail, and spans where others hold the set.
  std::string unexpected(status code) const {
    if (code.is_ok()) return {};
    if (code == status::timed_out) return "a wait did not end";
    if (code == status::from_nvme(fake_store::read_failure) && !what_.store.bad_reads.empty()) return {};
    if (code == status::from_nvme(fake_store::write_failure) && !what_.store.bad_writes.empty()) return {};
    return "a status from nowhere: " + std::to_string(code.bits());
  }

  std::uint64_t in_store(std::uint64_t element) {
    std::uint64_t value = 0;
    const auto* page =
        reinterpret_cast<const std::byte*>(&store_.media_word(places().page(element).value, 0));
    std::memcpy(&value, page + places().offset(element), places().bytes(element));
    return value;
  }
  operation seen_in_store(std::uint64_t element, std::uint64_t called) {
    operation seen;
    seen.called = called;
    seen.element = element;
    seen.bytes = places().bytes(element);
    seen.result = in_store(element);
    return seen;
  }

  /// A flush that went well is a read of each element in the store: at some moment since its call the element
  /// had that value.
  void flush() {
    const std::uint64_t called = lane::clock_ns();
    const flush_report report = work_.cache.flush(lane::solo(), {0}, {places().pages});
    const std::string failure = unexpected(report.code);
    if (!failure.empty()) fail("flush: " + failure);
    if (!report.code.is_ok() || SLUICE_TSAN) return;  // a later write may be on its way there
    for (std::uint64_t element = 0; element < places().elements(); ++element) {
      operation seen = seen_in_store(element, called);
      work_.end(seen);
    }
  }

  const scenario& what_;
  fake_store store_;
  testing::plain_cache memory_;
  testing::history record_;
  testing::mixed_lanes<Cache> work_;
  std::vector<std::uint64_t> start_;
};

/// Runs one scenario under one schedule; what went wrong, or nothing.
template <class Cache>
std::string run(const scenario& what, lane::explore::policy how, std::uint64_t seed) {
  world<Cache> w(what, seed);
  const lane::explore::result result = lane::explore::run(
      {.how = how, .seed = seed, .expected_steps = 2000, .warps = what.warps, .lanes = what.lanes},
      [&w] { w.play(); });
  return result.ok ? w.wrong() : result.why;
}

inline const std::vector<scenario>& all() {
  using optimized = cache_ref<fake_store_ref>;
  using naive = cache_ref<fake_store_ref, fifo, mode::naive>;
  using none = cache_ref<fake_store_ref, random, mode::none>;
  using at_random = cache_ref<fake_store_ref, random, mode::optimized, false>;
  static const std::vector<scenario> list = {
      {.name = "two_frames",
       .frames = 2,
       .store = {.pages = 3},
       .warps = 3,
       .lanes = 2,
       .operations = 6,
       .run = run<optimized>},
      {.name = "two_frames_at_random",
       .frames = 2,
       .store = {.pages = 3, .most_delay = 0},
       .warps = 4,
       .lanes = 1,
       .operations = 8,
       .run = run<at_random>},
      {.name = "one_watches_what_others_evict",
       .frames = 2,
       .store = {.pages = 3, .most_delay = 0},
       .warps = 3,
       .lanes = 1,
       .operations = 24,
       .one_watches = true,
       .run = run<at_random>},
      {.name = "flushes",
       .frames = 2,
       .store = {.pages = 3, .write_reports = 2},
       .warps = 2,
       .lanes = 2,
       .operations = 6,
       .flush_every = 3,
       .run = run<optimized>},
      {.name = "spans_and_flushes",
       .frames = 3,
       .store = {.pages = 4},
       .warps = 3,
       .lanes = 2,
       .operations = 4,
       .span_every = 2,
       .flush_every = 5,
       .run = run<optimized>},
      {.name = "mirrors_that_fail_one_copy",
       .frames = 2,
       .store = {.pages = 3,
                 .read_reports = 2,
                 .write_reports = 4,
                 .sources = 2,
                 .bad_sources = {2},
                 .bad_writes = {{0, 2}, {1, 1}}},
       .warps = 2,
       .lanes = 2,
       .operations = 6,
       .flush_every = 6,
       .run = run<optimized>},
      {.name = "failing_reads_and_writes",
       .frames = 2,
       .store = {.pages = 4, .write_reports = 2, .bad_reads = {3}, .bad_writes = {{0, 1}, {1, 1}}},
       .warps = 2,
       .lanes = 2,
       .operations = 6,
       .flush_every = 6,
       .run = run<optimized>},
      {.name = "failing_writes_tried_again_and_again",
       .frames = 2,
       .store = {.pages = 3, .write_reports = 2, .most_delay = 1, .bad_writes = {{0, 3}, {1, 3}, {2, 3}}},
       .warps = 4,
       .lanes = 1,
       .operations = 6,
       .flush_every = 3,
       .run = run<optimized>},
      {.name = "lost_queues_and_refusals",
       .frames = 2,
       .store = {.pages = 3, .write_reports = 2, .lost_every = 4, .lost_looks = 8, .refuse_every = 5},
       .warps = 2,
       .lanes = 2,
       .operations = 6,
       .flush_every = 6,
       .run = run<optimized>},
      {.name = "an_exclusive_tier",
       .frames = 2,
       .store = {.pages = 5, .write_reports = 2, .most_delay = 1},
       .warps = 3,
       .lanes = 2,
       .operations = 6,
       .flush_every = 6,
       .tier = {2, tier_kind::exclusive},
       .run = run<optimized>},
      {.name = "an_inclusive_tier",
       .frames = 3,
       .store = {.pages = 5},
       .warps = 3,
       .lanes = 2,
       .operations = 5,
       .span_every = 3,
       .flush_every = 6,
       .tier = {3, tier_kind::inclusive},
       .run = run<optimized>},
      {.name = "naive",
       .frames = 2,
       .store = {.pages = 3},
       .warps = 2,
       .lanes = 2,
       .operations = 6,
       .flush_every = 6,
       .run = run<naive>},
      {.name = "every_access_reloads",
       .frames = 2,
       .store = {.pages = 3},
       .warps = 2,
       .lanes = 2,
       .operations = 6,
       .flush_every = 6,
       .run = run<none>},
  };
  return list;
}

}  // namespace sluice::cache::linear

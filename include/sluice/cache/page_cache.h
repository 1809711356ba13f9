// The memory of a cache: frames, their words and its counters, owned by the host.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/cache/checked_store.h"
#include "sluice/cache/counters.h"
#include "sluice/cache/host_tier.h"
#include "sluice/memory/buffer.h"

namespace sluice::cache {

struct cache_options {
  std::uint64_t bytes = 64 * MiB;      ///< for frames; their words add 8 bytes a frame and 8 a report
  std::uint32_t page_bytes = 4096;     ///< a power of two, 512 B to 64 KiB
  std::uint32_t reports = 1;           ///< the most that a transfer of the store makes
  std::uint64_t patience_ms = 30'000;  ///< how long one access may wait before it gives up
  memory::place where = memory::place::device;
  std::uint64_t tier_bytes = 0;  ///< for a second tier in pinned host memory, 8 bytes a page more; 0: none
  tier_kind tier = tier_kind::exclusive;
};

/// Owns a cache. Lanes use it through ref(); it outlives them, and every transfer that they started.
class page_cache {
 public:
  /// A cache of pages 0 to `pages` - 1. Throws error{bad_input} where the options do not fit one another.
  page_cache(backend on, const cache_options& options, std::uint64_t pages);

  /// Lanes' view, over the store that brings the pages.
  /// Throws error{bad_input} where the store's pages are not the cache's, or take more reports each.
  template <class Policy = clock, mode Mode = mode::optimized, bool Counts = true, page_store Store>
  cache_ref<Store, Policy, Mode, Counts> ref(const Store& store) const {
    check_store(store.page_bytes(), store.pages(), std::max(store.reports(false), store.reports(true)),
                load_reports(store));
    return {view(), store};
  }

  std::uint64_t frames() const { return shape_.frames(); }
  /// Pages that the second tier holds.
  std::uint64_t tier_pages() const { return std::uint64_t{tier_shape_.slots_a_set()} * shape_.sets(); }
  /// Where the frames lie, one after another: for stores whose drives must reach them.
  const memory::region& frame_memory() const { return frames_.view(); }
  std::uint32_t page_bytes() const { return options_.page_bytes; }
  /// Sums of what lanes counted so far; exact while no kernel runs.
  statistics counted() const;
  /// Ends every wait of every lane, now and until reset: they return status::cancelled.
  void stop_waits(bool stop = true);

 private:
  void make_tier(backend on);
  cache_view view() const;
  void check_store(std::uint32_t page_bytes, std::uint64_t pages, std::uint32_t reports,
                   std::uint32_t load_reports) const;

  cache_options options_;
  directory_shape shape_;
  tier_shape tier_shape_;
  std::uint64_t pages_;
  memory::buffer frames_;
  memory::buffer words_;
  memory::buffer details_;
  memory::buffer shards_;
  memory::buffer abort_;
  memory::buffer tier_pages_;
  memory::buffer tier_words_;
  memory::buffer tier_;  // the tier_ref
};

}  // namespace sluice::cache

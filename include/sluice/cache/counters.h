// What a cache did, counted in shards so that counting does not become the bottleneck that it measures.
#pragma once

#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"

namespace sluice::cache {

enum class counter : std::uint32_t {
  accesses,     ///< elements that lanes read or wrote
  misses,       ///< of those, how many found their page not resident
  bytes_asked,  ///< bytes of those elements
  loads,        ///< pages brought in (asked for; also those that failed)
  writes,       ///< pages written back
  evictions,    ///< pages given up for another
  tier_loads,   ///< of the loads, how many the second tier served
  tier_stores,  ///< pages copied into the second tier
};
inline constexpr std::uint32_t counter_kinds = 8;

/// One shard: a line of its own.
struct alignas(line_bytes) counter_shard {
  std::uint64_t counts[counter_kinds] = {};
};

/// Sums over all shards.
struct statistics {
  std::uint64_t accesses = 0;
  std::uint64_t misses = 0;
  std::uint64_t bytes_asked = 0;
  std::uint64_t loads = 0;
  std::uint64_t writes = 0;
  std::uint64_t evictions = 0;
  std::uint64_t tier_loads = 0;
  std::uint64_t tier_stores = 0;

  std::uint64_t hits() const { return accesses - misses; }
  double hit_rate() const {
    return accesses == 0 ? 0.0 : static_cast<double>(hits()) / static_cast<double>(accesses);
  }
};

/// Lanes' view of the shards.
struct counters_ref {
  counter_shard* shards = nullptr;
  std::uint32_t mask = 0;  ///< number of shards - 1, a power of two less one

  SLUICE_HD void add(counter what, std::uint64_t n) const {
    auto& count = shards[lane::warp_index() & mask].counts[static_cast<std::uint32_t>(what)];
    lane::on_device(count).fetch_add(n, lane::relaxed);
  }
};

}  // namespace sluice::cache

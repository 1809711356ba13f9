// What latencies that lanes counted in buckets come to: percentiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/lane/latency_buckets.h"

namespace sluice::tool {

using lane::latency_bucket;
using lane::latency_buckets;
using lane::latency_from;

struct latency_summary {
  double p50 = 0, p99 = 0, p999 = 0;  ///< µs, the middle of their bucket
  double max = 0;                     ///< µs, no more than a bucket below the truth
  double alone = 0;  ///< mean of a read alone, from doorbell to answer, on the first drive; 0: not known
};

/// Of latency_buckets counts; all zero where nothing was counted.
latency_summary summary_of(std::span<const std::uint64_t> counts);

}  // namespace sluice::tool

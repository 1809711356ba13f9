// Latencies counted by size in buckets of three per cent and less: a lane adds one, and percentiles come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/base/bits.h"
#include "sluice/lane/team.h"

namespace sluice::tool {

/// To each power of two of nanoseconds; below so many ns each has a bucket of its own.
inline constexpr std::uint32_t latency_steps = 32;
/// Up to half an hour; longer ones fall into the last.
inline constexpr std::uint32_t latency_buckets = 37 * latency_steps;

/// The bucket of a latency in ns.
SLUICE_HD inline std::uint32_t latency_bucket(std::uint64_t ns) {
  const std::uint32_t width = lane::bit_width(ns | latency_steps) - log2_exact(2 * latency_steps);
  const std::uint32_t bucket = width * latency_steps + static_cast<std::uint32_t>(ns >> width);
  return bucket < latency_buckets ? bucket : latency_buckets - 1;
}
/// The least latency that falls into a bucket, ns.
constexpr std::uint64_t latency_from(std::uint32_t bucket) {
  const std::uint32_t width = bucket < latency_steps ? 0 : bucket / latency_steps - 1;
  return std::uint64_t{bucket - width * latency_steps} << width;
}

struct latency_summary {
  double p50 = 0, p99 = 0, p999 = 0;  ///< µs, the middle of their bucket
  double max = 0;                     ///< µs, no more than a bucket below the truth
  double alone = 0;  ///< mean of a read alone, from doorbell to answer, on the first drive; 0: not known
};

/// Of latency_buckets counts; all zero where nothing was counted.
latency_summary summary_of(std::span<const std::uint64_t> counts);

}  // namespace sluice::tool

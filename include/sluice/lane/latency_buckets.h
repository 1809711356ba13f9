// Times counted by size in buckets of three per cent and less: a lane adds one, and percentiles come out.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"

namespace sluice::lane {

/// To each power of two of nanoseconds; below so many ns each has a bucket of its own.
inline constexpr std::uint32_t latency_steps = 32;
/// Up to half an hour; longer ones fall into the last.
inline constexpr std::uint32_t latency_buckets = 37 * latency_steps;

/// The bucket of a latency in ns.
SLUICE_HD inline std::uint32_t latency_bucket(std::uint64_t ns) {
  const std::uint32_t width = bit_width(ns | latency_steps) - log2_exact(2 * latency_steps);
  const std::uint32_t bucket = width * latency_steps + static_cast<std::uint32_t>(ns >> width);
  return bucket < latency_buckets ? bucket : latency_buckets - 1;
}
/// The least latency that falls into a bucket, ns.
constexpr std::uint64_t latency_from(std::uint32_t bucket) {
  const std::uint32_t width = bucket < latency_steps ? 0 : bucket / latency_steps - 1;
  return std::uint64_t{bucket - width * latency_steps} << width;
}

}  // namespace sluice::lane

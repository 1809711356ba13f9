#include "tools/sluice/latency_counts.h"

#include <numeric>

namespace sluice::tool {

namespace {

double middle_us(std::uint32_t bucket) {
  return static_cast<double>(latency_from(bucket) + latency_from(bucket + 1)) / 2e3;
}

/// Of the bucket that holds the `share`-th of all that were counted.
double percentile(std::span<const std::uint64_t> counts, std::uint64_t all, double share) {
  std::uint64_t seen = 0;
  std::uint32_t bucket = 0;
  while (static_cast<double>(seen += counts[bucket]) < share * static_cast<double>(all)) ++bucket;
  return middle_us(bucket);
}

}  // namespace

latency_summary summary_of(std::span<const std::uint64_t> counts) {
  const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (all == 0) return {};
  auto last = static_cast<std::uint32_t>(counts.size());
  while (counts[last - 1] == 0) --last;
  return {.p50 = percentile(counts, all, 0.5),
          .p99 = percentile(counts, all, 0.99),
          .p999 = percentile(counts, all, 0.999),
          .max = static_cast<double>(latency_from(last)) / 1e3};
}

}  // namespace sluice::tool

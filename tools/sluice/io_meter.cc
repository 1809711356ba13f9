#include "tools/sluice/io_meter.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

namespace sluice::tool {

namespace {

std::vector<std::uint64_t> counts_in(const memory::buffer& where) {
  std::vector<std::uint64_t> counts(where.size() / sizeof(std::uint64_t));
  memory::copy_out(where.view(), 0, std::as_writable_bytes(std::span(counts)));
  return counts;
}

void zero(const memory::buffer& what) {
  const std::vector<std::byte> zeros(what.size());
  memory::copy_in(what.view(), 0, zeros);
}

/// A power of two of ns, 32 to 63 of which are so many seconds.
std::uint32_t shift_for(double seconds) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(seconds * 1e9) / 32)) - 1;
}

}  // namespace

io_meter::io_meter(backend lanes, double seconds)
    : seconds_(seconds),
      slice_shift_(shift_for(seconds)),
      latencies_(lanes, memory::place::device, latency_buckets * sizeof(std::uint64_t)),
      slices_(lanes, memory::place::device, most_slices * sizeof(std::uint64_t)) {}

void io_meter::clear() {
  zero(latencies_);
  zero(slices_);
}

void io_meter::tell(io_job& job) const {
  job.latencies = latencies_.lanes_as<std::uint64_t>();
  job.slices = slices_.lanes_as<std::uint64_t>();
  job.slice_shift = slice_shift_;
}

latency_summary io_meter::latencies() const { return summary_of(counts_in(latencies_)); }

void io_meter::keep_steady_part(io_bench_result& result) const {
  const double slice_seconds = static_cast<double>(std::uint64_t{1} << slice_shift_) / 1e9;
  const auto whole = static_cast<std::size_t>(std::min(seconds_, result.seconds) / slice_seconds);
  std::vector<std::uint64_t> slices = counts_in(slices_);
  slices.resize(std::min(slices.size(), whole));
  result.steady = find_steady_state(slices);
  if (!result.steady.reached) return;
  const auto kept = std::span(slices).subspan(result.steady.first);
  const double kept_seconds = static_cast<double>(kept.size()) * slice_seconds;
  result.steady_from = static_cast<double>(result.steady.first) * slice_seconds;
  result.cpu_seconds *= kept_seconds / result.seconds;
  result.seconds = kept_seconds;
  result.commands = std::accumulate(kept.begin(), kept.end(), std::uint64_t{0});
}

}  // namespace sluice::tool

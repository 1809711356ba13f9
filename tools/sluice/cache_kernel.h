// The cache benchmark's kernel: lanes read and write elements by a pattern, and compare each with its truth.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"
#include "tools/sluice/cache_stamps.h"
#include "tools/sluice/io_kernel.h"

namespace sluice::tool {

enum class access_pattern : std::uint8_t { random, sequential, zipf };

/// Pages that a zipf draw may give, by quantile; between two entries all are as likely.
inline constexpr std::uint32_t zipf_entries = 1U << 14;

/// What one warp did, in a line of its own.
struct alignas(128) access_tally {
  std::uint64_t accesses;
  std::uint64_t writes;
  std::uint64_t wrong;
};

/// Everything the lanes are told; one copy in their memory.
struct access_job {
  const std::uint64_t* truth;       ///< of each element, or null: stamps
  const std::uint32_t* zipf_pages;  ///< zipf_entries + 1
  access_tally* tallies;            ///< one a warp
  std::uint64_t* latencies;         ///< latency_buckets counts
  std::uint64_t* slowest;           ///< nanoseconds
  std::uint64_t* end;               ///< when the time is over; 0 until the first lane has begun
  std::uint32_t* stop;              ///< the first wrong value ends the run
  std::uint64_t pages;
  std::uint64_t nanoseconds;
  std::uint64_t accesses;  ///< of each lane
  std::uint64_t seed;
  std::uint32_t page_elements;  ///< a power of two
  std::uint32_t writes_in_1024;
  std::uint32_t
      look_every;  ///< accesses between two looks at the clock; a warp's first lane times the one after each
  access_pattern pattern;
};

/// `Elements`: read(i) and fetch_add(i, 1), as array_ref has them.
template <class Elements>
struct access_kernel {
  static constexpr std::uint32_t block_lanes = 128;
  /// 64 registers a lane: many lanes hide more of the way to memory than many registers (one H200).
  static constexpr lane::residency resident{block_lanes, 8};

  Elements elements;
  const access_job* shared;

  SLUICE_HD void operator()() const {
    const access_job& job = *shared;
    const std::uint64_t end = ending(job);
    const auto warp = lane::warp_team::whole();
    const bool times = lane::lane_index() == 0;
    std::uint64_t wrong = 0;
    std::uint64_t writes = 0;
    std::uint64_t n = 0;
    for (; n < job.accesses; ++n) {
      const bool looks = n % job.look_every == 0;
      const std::uint64_t now = looks ? lane::clock_ns() : 0;
      if (looks && warp.any(now > end || lane::on_device(*job.stop).load(lane::relaxed) != 0)) break;
      wrong += access(job, n, writes) ? 0 : 1;
      if (looks && times) note(job, lane::clock_ns() - now);
      lane::rejoin_warp();  // some lanes wrote where others read
    }
    access_tally& tally = job.tallies[lane::warp_index()];
    lane::on_device(tally.accesses).fetch_add(n, lane::relaxed);
    lane::on_device(tally.writes).fetch_add(writes, lane::relaxed);
    lane::on_device(tally.wrong).fetch_add(wrong, lane::relaxed);
  }

  SLUICE_HD static std::uint64_t ending(const access_job& job) {
    std::uint64_t none = 0;
    const std::uint64_t mine = lane::clock_ns() + job.nanoseconds;
    return lane::on_device(*job.end).compare_exchange(none, mine, lane::relaxed) ? mine : none;
  }

  /// True where the element held what it must.
  SLUICE_HD SLUICE_INLINE bool access(const access_job& job, std::uint64_t n, std::uint64_t& writes) const {
    const std::uint64_t draw = mix(job.seed + n * lane::grid_lanes() + lane::grid_index());
    const std::uint64_t i = element_of(job, n, draw);
    const bool is_write = job.writes_in_1024 != 0 && (mix(draw) & 1023U) < job.writes_in_1024;
    const std::uint64_t found =
        is_write ? elements.fetch_add(i, std::uint64_t{1}) : static_cast<std::uint64_t>(elements.read(i));
    writes += is_write ? 1 : 0;
    const bool right =
        job.truth != nullptr ? found == job.truth[i] : (found & ~stamp_counts) == element_stamp(i);
    if (!right) lane::on_device(*job.stop).store(1, lane::relaxed);
    return right;
  }

  SLUICE_HD static std::uint64_t element_of(const access_job& job, std::uint64_t n, std::uint64_t draw) {
    if (job.pattern == access_pattern::sequential)
      return (n * lane::grid_lanes() + lane::grid_index()) % (job.pages * job.page_elements);
    const std::uint64_t page =
        job.pattern == access_pattern::zipf ? zipf_page(job, draw) : (draw >> 32) * job.pages >> 32;
    return page * job.page_elements + (draw & (job.page_elements - 1));
  }

  /// The popular pages lie all over the volume: their ranks go through a bijection.
  SLUICE_HD static std::uint64_t zipf_page(const access_job& job, std::uint64_t draw) {
    const auto entry = static_cast<std::uint32_t>(draw >> 50);
    const std::uint64_t first = job.zipf_pages[entry];
    const std::uint64_t width = job.zipf_pages[entry + 1] - first + 1;
    const std::uint64_t rank = first + (((draw >> 18) & 0xffff'ffffU) * width >> 32);
    constexpr std::uint64_t prime = 2'654'435'761;
    return rank * prime % job.pages;
  }

  SLUICE_HD static void note(const access_job& job, std::uint64_t ns) {
    lane::on_device(job.latencies[latency_bucket(ns)]).fetch_add(1, lane::relaxed);
    lane::on_device(*job.slowest).fetch_max(ns, lane::relaxed);
  }
};

/// Elements in plain memory: the bare limit.
struct bare_elements {
  std::uint64_t* words;
  bool written;  ///< while they are read, too
  SLUICE_HD std::uint64_t read(std::uint64_t i) const {
    return written ? lane::on_device(words[i]).load(lane::relaxed) : words[i];
  }
  SLUICE_HD std::uint64_t fetch_add(std::uint64_t i, std::uint64_t n) const {
    return lane::on_device(words[i]).fetch_add(n, lane::relaxed);
  }
};

}  // namespace sluice::tool

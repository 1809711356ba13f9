// `sluice bench cache --access overlap`: reads that were asked for a round ahead, against plain reads, beside
// as much computing.
#include <algorithm>
#include <cstdint>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/lane/atomic.h"
#include "tools/sluice/cache_run.h"
#include "tools/sluice/cache_stamps.h"
#include "tools/sluice/calibrate.h"
#include "tools/sluice/pass_kernel.h"

namespace sluice::tool {

namespace {

using plain_cache = cached_volume<cache::clock, cache::mode::optimized, false>;
using words = plain_cache::array_type<std::uint64_t>;

enum class overlap_way : std::uint8_t { compute, plain, tokens };

/// What all lanes found: words that were not their stamps; and a value that keeps the computing alive.
struct overlap_found {
  std::uint64_t wrong;
  std::uint64_t sink;
};

/// Each lane reads a word of a page of its own, computes, and goes on to the next: every page once,
/// scattered.
struct overlap_kernel {
  /// One warp for each scheduler of an SM: there is no other to compute while it waits.
  static constexpr lane::residency resident{128, 1};

  words array;
  std::uint64_t pages;  ///< of the array
  overlap_found* found;
  std::uint64_t rounds;
  std::uint64_t steps;  ///< of computing, a round
  overlap_way way;

  SLUICE_HD void operator()() const {
    words::read_token ahead{};
    if (way == overlap_way::tokens) ahead = array.read_async(element_of(0));
    std::uint64_t wrong = 0;
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < rounds; ++n) {
      const std::uint64_t i = element_of(n);
      std::uint64_t word = stamp_of<std::uint64_t>(i);
      if (way == overlap_way::plain) word = array.read(i);
      if (way == overlap_way::tokens) {
        const words::read_token mine = ahead;
        if (n + 1 < rounds) ahead = array.read_async(element_of(n + 1));
        word = array.wait(mine);
      }
      lane::rejoin_warp();  // whichever way: some lanes may have waited
      wrong += word == stamp_of<std::uint64_t>(i) ? 0 : 1;
      sum += computed(word);
    }
    if (wrong != 0) lane::on_device(found->wrong).fetch_add(wrong, lane::relaxed);
    if (sum == 1) lane::on_device(found->sink).store(sum, lane::relaxed);
  }

  SLUICE_HD std::uint64_t element_of(std::uint64_t n) const {
    return scattered(n * lane::grid_lanes() + lane::grid_index(), pages) * array.page_elements() + n % 8;
  }

  SLUICE_HD std::uint64_t computed(std::uint64_t word) const {
    for (std::uint64_t step = 0; step < steps; ++step) word = mix(word + step);
    return word;
  }
};

class overlap_run {
 public:
  explicit overlap_run(const cache_bench_task& task)
      : task_(task),
        found_(task.on.kind(), memory::place::device, sizeof(overlap_found)),
        shape_(
            grid_for<overlap_kernel>(task.on, task.options.lanes, std::uint64_t{task.on.processors()} * 128)),
        rounds_(std::max<std::uint64_t>(1, task.truth.bytes / task.point.page_bytes / lanes_of(shape_))) {}

  cache_bench_result measure() {
    const double reading = seconds_of(overlap_way::plain, 0);
    const std::uint64_t steps =
        steps_that_take(reading, [this](std::uint64_t few) { return seconds_of(overlap_way::compute, few); });
    const double plain = seconds_of(overlap_way::plain, steps);
    result_.accesses = rounds_ * lanes_of(shape_);
    result_.bare_per_second = static_cast<double>(result_.accesses) / plain;
    result_.seconds = seconds_of(overlap_way::tokens, steps);
    result_.lanes = lanes_of(shape_);
    result_.bytes_needed = result_.accesses * sizeof(std::uint64_t);
    result_.amplification =
        static_cast<double>(result_.bytes_moved) / static_cast<double>(result_.bytes_needed);
    return result_;
  }

 private:
  /// Of one pass from an empty cache. The result has the commands of the last.
  double seconds_of(overlap_way way, std::uint64_t steps) {
    plain_cache cached(task_.on, task_.drives, settings_of(task_));
    const words array =
        cached.array<std::uint64_t>(task_.truth.first_byte, task_.truth.bytes / sizeof(std::uint64_t));
    put(found_, overlap_found{});
    const double seconds = run_through(
        cached, task_, shape_,
        overlap_kernel{array, array.pages(), found_.lanes_as<overlap_found>(), rounds_, steps, way});
    need_all_right(take<overlap_found>(found_, 1)[0].wrong, rounds_ * lanes_of(shape_), "the cache");
    account_commands(cached.truth(), result_);
    return seconds;
  }

  const cache_bench_task& task_;
  memory::buffer found_;
  lane::grid shape_;
  std::uint64_t rounds_;
  cache_bench_result result_;
};

}  // namespace

cache_bench_result run_overlap_bench(const cache_bench_task& task) { return overlap_run(task).measure(); }

}  // namespace sluice::tool

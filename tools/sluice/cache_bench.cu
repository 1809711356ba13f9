#include "tools/sluice/cache_bench.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/error.h"
#include "sluice/lane/atomic.h"
#include "tools/sluice/cache_kernel.h"
#include "tools/sluice/cache_run.h"
#include "tools/sluice/latency_counts.h"

namespace sluice::tool {

namespace {

access_pattern pattern_of(const std::string& name) {
  if (name == "sequential") return access_pattern::sequential;
  return name == "zipf" ? access_pattern::zipf : access_pattern::random;
}

/// Entry k: the page that a share of k / zipf_entries of all draws does not exceed, where page r is drawn as
/// often as 1 / (r + 1).
std::vector<std::uint32_t> zipf_table(std::uint64_t pages) {
  std::vector<std::uint32_t> table(zipf_entries + 1);
  for (std::uint32_t k = 0; k <= zipf_entries; ++k) {
    const double share = static_cast<double>(k) / zipf_entries;
    const double rank = std::pow(static_cast<double>(pages), share) - 1;
    table[k] = static_cast<std::uint32_t>(std::min(rank, static_cast<double>(pages - 1)));
  }
  return table;
}

/// The memory that a kernel reports in, and what it is told.
class run_memory {
 public:
  run_memory(backend kind, lane::grid shape, std::uint64_t pages)
      : tallies_(kind, memory::place::device,
                 std::size_t{shape.blocks} * warps(shape) * sizeof(access_tally)),
        latencies_(kind, memory::place::device, latency_buckets * sizeof(std::uint64_t)),
        words_(kind, memory::place::device, 4 * sizeof(std::uint64_t)),
        stop_(kind, memory::place::device, sizeof(std::uint32_t)),
        zipf_(kind, memory::place::device, (zipf_entries + 1) * sizeof(std::uint32_t)),
        job_(kind, memory::place::device, sizeof(access_job)) {
    const std::vector<std::uint32_t> table = zipf_table(pages);
    memory::copy_in(zipf_.view(), 0, std::as_bytes(std::span(table)));
  }

  const access_job* told(access_job job) {
    job.tallies = tallies_.lanes_as<access_tally>();
    job.latencies = latencies_.lanes_as<std::uint64_t>();
    job.end = words_.lanes_as<std::uint64_t>();
    job.slowest = job.end + 1;
    job.stop = stop_.lanes_as<std::uint32_t>();
    job.zipf_pages = zipf_.lanes_as<std::uint32_t>();
    put(job_, job);
    return job_.lanes_as<access_job>();
  }
  /// While the lanes run: those of a CPU look at the very word.
  void stop() const {
    if (stop_.host() == nullptr) return put(stop_, std::uint32_t{1});
    lane::on_device(stop_.host_as<std::uint32_t>().front()).store(1, lane::relaxed);
  }

  access_tally sum() const {
    access_tally all{};
    for (const access_tally& each : take<access_tally>(tallies_, tallies_.size() / sizeof(access_tally))) {
      all.accesses += each.accesses;
      all.writes += each.writes;
      all.wrong += each.wrong;
    }
    return all;
  }

  latency_summary latency() const {
    latency_summary found = summary_of(take<std::uint64_t>(latencies_, latency_buckets));
    found.max = static_cast<double>(take<std::uint64_t>(words_, 2)[1]) / 1000;
    return found;
  }

 private:
  static std::size_t warps(lane::grid shape) { return divide_up(shape.block_lanes, 32); }
  memory::buffer tallies_, latencies_, words_, stop_, zipf_, job_;
};

struct bench_run : cache_bench_task {
  template <class Kernel>
  lane::grid shape(std::uint64_t wanted) const {
    return grid_for<Kernel>(on, options.lanes, wanted);
  }

  access_job job(std::uint64_t pages, lane::grid shape) const {
    access_job made{};
    made.pages = pages;
    made.page_elements = point.page_bytes / 8;
    made.accesses = options.accesses ? divide_up(*options.accesses, lanes_of(shape)) : ~std::uint64_t{0};
    made.nanoseconds =
        options.accesses ? ~std::uint64_t{0} >> 2 : static_cast<std::uint64_t>(options.seconds * 1e9);
    made.seed = options.seed;
    made.writes_in_1024 = static_cast<std::uint32_t>(std::lround(point.write_share * 1024));
    made.look_every = point.mode == "none" ? 1 : 16;
    made.pattern = pattern_of(point.pattern);
    return made;
  }

  lane::launch_report wait(lane::running_launch& launch, const run_memory& memory,
                           const std::function<bool()>& failed, const std::function<void()>& cancel) const {
    return wait_for(launch, stop_asked, failed, [&] {
      memory.stop();
      cancel();
    });
  }

  /// The same accesses, to plain memory of the cache's size.
  double bare() const {
    const std::uint64_t pages =
        std::max<std::uint64_t>(1, std::min(truth.bytes, point.cache_bytes) / point.page_bytes);
    const memory::buffer words(on.kind(), memory::place::device, pages * point.page_bytes);
    std::vector<std::uint64_t> chunk(point.page_bytes / 8);
    for (std::uint64_t page = 0; page < pages; ++page) {
      for (std::size_t k = 0; k < chunk.size(); ++k) chunk[k] = element_stamp(page * chunk.size() + k);
      memory::copy_in(words.view(), page * point.page_bytes, std::as_bytes(std::span(chunk)));
    }
    using kernel = access_kernel<bare_elements>;
    const lane::grid grid = shape<kernel>(~std::uint64_t{0});
    run_memory memory(on.kind(), grid, pages);
    const access_job told = job(pages, grid);
    const auto launch = lane::start(
        on, grid, kernel{{words.lanes_as<std::uint64_t>(), told.writes_in_1024 != 0}, memory.told(told)});
    const lane::launch_report report = wait(
        *launch, memory, [] { return false; }, [] {});
    const access_tally did = memory.sum();
    need_all_right(did.wrong, did.accesses, "plain memory");
    return report.seconds > 0 ? static_cast<double>(did.accesses) / report.seconds : 0;
  }

  template <class Policy, cache::mode Mode>
  cache_bench_result measure() const {
    cached_volume<Policy, Mode> cached(on, drives, settings_of(*this));
    const auto elements = cached.template array<std::uint64_t>(truth.first_byte, truth.bytes / 8);
    using kernel = access_kernel<std::remove_const_t<decltype(elements)>>;
    // Lanes that all miss want a frame each.
    const lane::grid grid = shape<kernel>(cached.frames() / 2);
    const std::uint64_t pages = truth.bytes / point.page_bytes;
    run_memory memory(on.kind(), grid, pages);
    access_job told = job(pages, grid);
    if (!truth.stamped) told.truth = truth.copy.lanes_as<std::uint64_t>();
    const auto launch = lane::start(on, grid, kernel{elements, memory.told(told)});
    const lane::launch_report report = wait(
        *launch, memory, [&] { return cached.failed(); }, [&] { cached.cancel(); });
    cached.sync();

    cache_bench_result result;
    const access_tally did = memory.sum();
    need_all_right(did.wrong, did.accesses, "the cache");
    result.lanes = lanes_of(grid);
    result.seconds = report.seconds;
    result.accesses = did.accesses;
    result.writes = did.writes;
    result.latency = memory.latency();
    truth.written += did.writes;
    if (did.writes > 0) result.flush_seconds = flush_seconds(cached);
    account(cached.truth(), result);
    return result;
  }

  static void account(const io_truth& io, cache_bench_result& result) {
    account_commands(io, result);
    result.bytes_needed = io.cache.bytes_asked;
    result.amplification = io.amplification();
    result.hit_rate = io.cache.hit_rate();
  }

  cache_bench_result by_policy() const {
    if (point.mode == "none") return measure<cache::clock, cache::mode::none>();
    if (point.mode == "naive") return measure<cache::clock, cache::mode::naive>();
    if (point.policy == "fifo") return measure<cache::fifo, cache::mode::optimized>();
    if (point.policy == "random") return measure<cache::random, cache::mode::optimized>();
    if (point.policy == "s3fifo") return measure<cache::s3_fifo, cache::mode::optimized>();
    return measure<cache::clock, cache::mode::optimized>();
  }
};

}  // namespace

void need_possible(const cache_bench_task& task) {
  const cached_volume<> opened(task.on, task.drives, settings_of(task));
}

cache_bench_result run_cache_bench(const cache_bench_task& task) {
  cache_bench_truth& truth = task.truth;
  if (truth.stamped && truth.element_bytes != task.point.element_bytes)
    truth = stamp_elements(task.drives, truth.first_byte, truth.bytes, task.point.element_bytes,
                           [](std::uint64_t) {});
  if (task.point.access == "overlap") return run_overlap_bench(task);
  if (task.point.access != "element") return run_pass_bench(task);
  const bench_run run{task};
  cache_bench_result result = run.by_policy();
  result.bare_per_second = run.bare();
  if (truth.stamped && truth.written > 0) check_elements(task.drives, truth);
  return result;
}

}  // namespace sluice::tool

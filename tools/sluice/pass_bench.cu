// `sluice bench cache --access KIND`: whole passes over elements, each in one way, through a cache and over
// plain memory.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "tools/sluice/cache_run.h"
#include "tools/sluice/pass_kernel.h"

namespace sluice::tool {

namespace {

/// Counters of single accesses would be most of what is measured here.
using plain_cache = cached_volume<cache::clock, cache::mode::optimized, false>;

template <class T>
class pass_run {
 public:
  using cached_array = plain_cache::array_type<T>;
  using bare_array = plain_array<T>;

  pass_run(lane::machine& on, storage& drives, cache_bench_truth& truth, const cache_bench_point& point,
           const cache_bench_options& options, const std::function<bool()>& stop_asked)
      : on_(on),
        drives_(drives),
        truth_(truth),
        point_(point),
        options_(options),
        stop_asked_(stop_asked),
        cached_(on, drives, settings_of(drives, point, options)),
        array_(cached_.array<T>(truth.first_byte, truth.bytes / sizeof(T))),
        found_(on.kind(), memory::place::device, sizeof(pass_found)) {}

  cache_bench_result measure() {
    if (point_.state == "hot") launch(touch_pages<cached_array>{array_});
    const std::uint64_t loads = cached_.truth().cache.loads;
    if (point_.access == "load") over_drawn<random_loads>();
    if (point_.access == "store") store();
    if (point_.access == "pages") over_all<page_reads>(array_.pages());
    if (point_.access == "loop") over_all<plain_loop>(array_.size());
    if (point_.access == "walk") over_all<page_walk>(array_.size());
    if (point_.access == "span") over_all<page_spans>(array_.size());
    if (point_.access == "gather") gather();
    account(cached_.truth(), loads);
    if (point_.access == "store") {
      check_stored(drives_, truth_);
      truth_.element_bytes = 0;
    }
    return result_;
  }

 private:
  void account(const io_truth& io, std::uint64_t loads_before) {
    account_commands(io, result_);
    if (result_.bytes_needed != 0)
      result_.amplification =
          static_cast<double>(io.bytes_moved) / static_cast<double>(result_.bytes_needed * passes());
    const double loaded = static_cast<double>(io.cache.loads - loads_before);
    result_.hit_rate = std::max(0.0, 1 - loaded / static_cast<double>(result_.accesses * passes()));
  }

  std::uint32_t passes() const { return point_.state == "hot" ? 3 : 1; }

  /// Seconds that the kernel takes; and its lanes, in the result.
  template <class Kernel>
  double launch(const Kernel& kernel) {
    const lane::grid shape = grid_of<Kernel>();
    const auto started = lane::start(on_, shape, kernel);
    const lane::launch_report report = wait_for(
        *started, stop_asked_, [&] { return cached_.failed(); }, [&] { cached_.cancel(); });
    cached_.sync();
    result_.lanes = lanes_of(shape);
    return report.seconds;
  }
  /// Lanes that all miss want a frame each.
  template <class Kernel>
  lane::grid grid_of() const {
    return grid_for<Kernel>(on_, options_.lanes,
                            point_.state == "hot" ? ~std::uint64_t{0} : cached_.frames() / 2);
  }

  pass_job job(std::uint64_t accesses) const {
    return {found_.template lanes_as<pass_found>(), options_.seed, accesses, false};
  }
  void forget_found() const {
    const pass_found none{};
    memory::copy_in(found_.view(), 0, std::as_bytes(std::span(&none, 1)));
  }
  pass_found found() const {
    pass_found got;
    memory::copy_out(found_.view(), 0, std::as_writable_bytes(std::span(&got, 1)));
    return got;
  }

  /// The median of as many passes as the state wants. `check` looks at what a pass left.
  template <class Kernel, class Check>
  double median(const Kernel& kernel, std::uint32_t count, const Check& check) {
    std::vector<double> seconds;
    for (std::uint32_t pass = 0; pass < count; ++pass) {
      forget_found();
      seconds.push_back(launch(kernel));
      check();
    }
    std::nth_element(seconds.begin(), seconds.begin() + count / 2, seconds.end());
    return seconds[count / 2];
  }

  void note(double seconds, std::uint64_t accesses, std::uint64_t bytes) {
    result_.seconds = seconds;
    result_.accesses = accesses;
    result_.bytes_needed = bytes;
  }

  /// Plain memory that holds the same elements, as many as the cache has room for, and at least a row.
  bare_array make_bare() {
    const std::uint64_t least = divide_up(point_.row_bytes, point_.page_bytes);
    const std::uint64_t most =
        std::max(least, std::min(truth_.bytes, point_.cache_bytes) / point_.page_bytes);
    bare_ = memory::buffer(on_.kind(), memory::place::device, most * point_.page_bytes);
    const bare_array made{bare_.template lanes_as<T>(), most * point_.page_bytes / sizeof(T),
                          static_cast<std::uint32_t>(point_.page_bytes / sizeof(T))};
    launch(put_stamps<T>{made.elements, made.count});
    return made;
  }
  static constexpr std::uint32_t bare_passes = 3;

  std::uint64_t lane_accesses(lane::grid shape) const {
    const std::uint64_t usual = on_.kind() == backend::cuda ? std::uint64_t{1} << 29 : std::uint64_t{1} << 16;
    return divide_up(options_.accesses.value_or(usual), lanes_of(shape));
  }

  template <template <class> class Kernel>
  void over_drawn() {
    using ours = Kernel<cached_array>;
    using bare = Kernel<bare_array>;
    const std::uint64_t all = lane_accesses(grid_of<ours>()) * lanes_of(grid_of<ours>());
    const auto right = [&] { need_all_right(found().wrong, all, "the cache"); };
    note(median(ours{array_, job(lane_accesses(grid_of<ours>()))}, passes(), right), all, all * sizeof(T));
    const std::uint64_t bare_all = lane_accesses(grid_of<bare>()) * lanes_of(grid_of<bare>());
    const double seconds = median(bare{make_bare(), job(lane_accesses(grid_of<bare>()))}, bare_passes, [] {});
    result_.lanes = lanes_of(grid_of<ours>());
    result_.bare_per_second = static_cast<double>(bare_all) / seconds;
  }

  /// Stores, then draws the same elements again and compares them, through the cache and, after a flush, as
  /// the drives have them.
  void store() {
    over_drawn<random_stores>();
    using kernel = random_loads<cached_array>;
    result_.writes = result_.accesses * passes();
    // The same draws: the lane's number and its count of accesses decide.
    const lane::grid shape = grid_of<random_stores<cached_array>>();
    pass_job again = job(lane_accesses(shape));
    again.changed = true;
    forget_found();
    const auto started = lane::start(on_, shape, kernel{array_, again});
    wait_for(
        *started, stop_asked_, [&] { return cached_.failed(); }, [&] { cached_.cancel(); });
    cached_.sync();
    need_all_right(found().wrong, result_.accesses, "the cache after they were stored");
    const auto began = std::chrono::steady_clock::now();
    cached_.flush();
    result_.flush_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

  /// A pass over the whole run of bytes, whose sum or whose single values say whether it was right.
  template <template <class> class Kernel>
  void over_all(std::uint64_t accesses) {
    forget_found();
    launch(sum_stamps<T>{found_.template lanes_as<pass_found>(), array_.size()});
    const std::uint64_t sum = found().sum;
    const auto right = [&] {
      const pass_found got = found();
      const bool one_by_one = point_.access == "pages";
      need_all_right(one_by_one ? got.wrong : (got.sum != sum ? accesses : 0), accesses, "the cache");
    };
    note(median(Kernel<cached_array>{array_, job(0)}, passes(), right), accesses, accesses * sizeof(T));
    const std::uint64_t lanes = result_.lanes;
    const bare_array plain = make_bare();
    const double share = static_cast<double>(plain.count) / static_cast<double>(array_.size());
    const double seconds = median(Kernel<bare_array>{plain, job(0)}, bare_passes, [] {});
    result_.bare_per_second = static_cast<double>(accesses) * share / seconds;
    result_.lanes = lanes;
  }

  void gather() {
    const auto width = static_cast<std::uint32_t>(point_.row_bytes / sizeof(T));
    const std::uint64_t usual = on_.kind() == backend::cuda ? std::uint64_t{1} << 22 : std::uint64_t{1} << 12;
    const std::uint64_t count = options_.accesses.value_or(std::min(usual, 2 * GiB / point_.row_bytes));
    const memory::buffer rows(on_.kind(), memory::place::device, count * sizeof(std::uint64_t));
    const memory::buffer out(on_.kind(), memory::place::device, count * point_.row_bytes);
    const row_job<T> job{rows.template lanes_as<std::uint64_t>(), out.template lanes_as<T>(), count, width};
    const auto draw = [&](std::uint64_t of) {
      launch(draw_rows<T>{rows.template lanes_as<std::uint64_t>(), job.out, count, of, options_.seed, width});
    };
    draw(array_.size() / width);
    const auto right = [&] {
      launch(check_rows<T>{job, found_.template lanes_as<pass_found>()});
      need_all_right(found().wrong, count * width, "the cache");
    };
    note(median(row_gather<cached_array>{array_, job}, passes(), right), count, count * point_.row_bytes);
    const std::uint64_t lanes = lanes_of(grid_of<row_gather<cached_array>>());
    const bare_array plain = make_bare();
    draw(plain.size() / width);
    const double seconds = median(row_gather<bare_array>{plain, job}, bare_passes, right);
    result_.bare_per_second = static_cast<double>(count) / seconds;
    result_.lanes = lanes;
  }

  lane::machine& on_;
  storage& drives_;
  cache_bench_truth& truth_;
  const cache_bench_point& point_;
  const cache_bench_options& options_;
  const std::function<bool()>& stop_asked_;
  plain_cache cached_;
  cached_array array_;
  memory::buffer found_, bare_;
  cache_bench_result result_;
};

template <class T>
cache_bench_result run_passes(lane::machine& on, storage& drives, cache_bench_truth& truth,
                              const cache_bench_point& point, const cache_bench_options& options,
                              const std::function<bool()>& stop_asked) {
  return pass_run<T>(on, drives, truth, point, options, stop_asked).measure();
}

}  // namespace

cache_bench_result run_pass_bench(lane::machine& on, storage& drives, cache_bench_truth& truth,
                                  const cache_bench_point& point, const cache_bench_options& options,
                                  const std::function<bool()>& stop_asked) {
  const auto run = point.element_bytes == 4 ? run_passes<std::uint32_t> : run_passes<std::uint64_t>;
  return run(on, drives, truth, point, options, stop_asked);
}

}  // namespace sluice::tool

// `sluice bench cache --access KIND`: whole passes over elements, each in one way, through a cache and over
// plain memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "tools/sluice/cache_run.h"
#include "tools/sluice/pass_kernel.h"
#include "tools/sluice/plain_array.h"
#include "tools/sluice/row_kernel.h"

namespace sluice::tool {

namespace {

/// Counters of single accesses would be most of what is measured here.
using plain_cache = cached_volume<cache::clock, cache::mode::optimized, false>;

constexpr const char* the_cache = "the cache";
constexpr const char* plain_memory = "plain memory";
constexpr std::uint32_t bare_passes = 3;

template <class T>
class pass_run {
 public:
  using cached_array = plain_cache::array_type<T>;
  using bare_array = plain_array<T>;

  explicit pass_run(const cache_bench_task& task)
      : task_(task),
        cached_(task.on, task.drives, settings_of(task)),
        array_(cached_.array<T>(task.truth.first_byte, task.truth.bytes / sizeof(T))),
        found_(task.on.kind(), memory::place::device, sizeof(pass_found)) {}

  cache_bench_result measure() {
    const std::string& access = task_.point.access;
    if (hot()) launch(touch_pages<cached_array>{array_});
    const std::uint64_t loads = cached_.truth().cache.loads;
    if (access == "load") over_drawn<random_loads>();
    if (access == "store") over_drawn<random_stores>();
    if (access == "pages") over_all<page_reads>(array_.pages(), false);
    if (access == "loop") over_all<plain_loop>(array_.size(), true);
    if (access == "walk") over_all<page_walk>(array_.size(), true);
    if (access == "span") over_all<page_spans>(array_.size(), true);
    if (access == "gather") gather();
    if (access == "store") read_back();
    account(cached_.truth(), loads);
    if (access == "store") {
      check_stored(task_.drives, task_.truth);
      task_.truth.element_bytes = 0;
    }
    return result_;
  }

 private:
  bool hot() const { return task_.point.state == "hot"; }
  std::uint32_t passes() const { return hot() ? 3 : 1; }

  void account(const io_truth& io, std::uint64_t loads_before) {
    account_commands(io, result_);
    if (result_.bytes_needed != 0)
      result_.amplification =
          static_cast<double>(io.bytes_moved) / static_cast<double>(result_.bytes_needed * passes());
    const double loaded = static_cast<double>(io.cache.loads - loads_before);
    result_.hit_rate = std::max(0.0, 1 - loaded / static_cast<double>(result_.accesses * passes()));
  }

  /// Lanes that all miss want a frame each.
  template <class Kernel>
  lane::grid grid_of() const {
    return grid_for<Kernel>(task_.on, task_.options.lanes, hot() ? ~std::uint64_t{0} : cached_.frames() / 2);
  }
  template <class Kernel>
  double launch(const Kernel& kernel) {
    return run_through(cached_, task_, grid_of<Kernel>(), kernel);
  }

  pass_found found() const { return take<pass_found>(found_, 1)[0]; }
  template <class Elements, class Pass>
  pass_kernel<Elements, Pass> kernel_of(const Elements& elements, std::uint64_t lane_accesses,
                                        bool stored = false) const {
    return {elements, {task_.options.seed, lane_accesses, stored}, found_.template lanes_as<pass_found>()};
  }

  /// Seconds of the kernel: the median of `count` passes, each made ready and checked.
  template <class Kernel, class Prepare, class Check>
  double median(const Kernel& kernel, std::uint32_t count, const Prepare& prepare, const Check& check) {
    std::vector<double> seconds;
    for (std::uint32_t pass = 0; pass < count; ++pass) {
      prepare();
      put(found_, pass_found{});
      seconds.push_back(launch(kernel));
      check();
    }
    std::nth_element(seconds.begin(), seconds.begin() + count / 2, seconds.end());
    return seconds[count / 2];
  }
  /// The same where a pass is right that found nothing wrong among `accesses`, and this sum.
  template <class Kernel>
  double median(const Kernel& kernel, std::uint32_t count, std::uint64_t accesses, std::uint64_t sum,
                const char* where) {
    const auto check = [&] {
      need_all_right(found().wrong, accesses, where);
      if (found().sum != sum)
        throw error(error_kind::wrong_answer,
                    "the sum of " + std::to_string(accesses) + " values read through " + where +
                        " is not that of what the drives hold",
                    "please report it with the command line and the machine");
    };
    return median(
        kernel, count, [] {}, check);
  }

  template <class Kernel>
  void note(double seconds, std::uint64_t accesses, std::uint64_t bytes) {
    result_.seconds = seconds;
    result_.accesses = accesses;
    result_.bytes_needed = bytes;
    result_.lanes = lanes_of(grid_of<Kernel>());
  }

  /// Plain memory that holds the same elements, as many as the cache has room for, and at least a row.
  bare_array make_bare() {
    const cache_bench_point& point = task_.point;
    const std::uint64_t least = divide_up(point.row_bytes, point.page_bytes);
    const std::uint64_t pages =
        std::max(least, std::min(task_.truth.bytes, point.cache_bytes) / point.page_bytes);
    bare_ = memory::buffer(task_.on.kind(), memory::place::device, pages * point.page_bytes);
    const bare_array made{bare_.template lanes_as<T>(), pages * point.page_bytes / sizeof(T),
                          static_cast<std::uint32_t>(point.page_bytes / sizeof(T))};
    launch(put_stamps<T>{made.elements, made.count});
    return made;
  }
  std::uint64_t sum_of_stamps(std::uint64_t count) {
    put(found_, pass_found{});
    launch(sum_stamps<T>{found_.template lanes_as<pass_found>(), count});
    return found().sum;
  }

  template <class Kernel>
  std::uint64_t lane_accesses() const {
    const std::uint64_t usual =
        task_.on.kind() == backend::cuda ? std::uint64_t{1} << 29 : std::uint64_t{1} << 16;
    return divide_up(task_.options.accesses.value_or(usual), lanes_of(grid_of<Kernel>()));
  }

  /// A pass over elements that lanes draw.
  template <class Pass>
  void over_drawn() {
    using ours = pass_kernel<cached_array, Pass>;
    using bare = pass_kernel<bare_array, Pass>;
    const std::uint64_t all = lane_accesses<ours>() * lanes_of(grid_of<ours>());
    const std::uint64_t bare_all = lane_accesses<bare>() * lanes_of(grid_of<bare>());
    const ours mine = kernel_of<cached_array, Pass>(array_, lane_accesses<ours>());
    note<ours>(median(mine, passes(), all, 0, the_cache), all, all * sizeof(T));
    const bare plain = kernel_of<bare_array, Pass>(make_bare(), lane_accesses<bare>());
    result_.bare_per_second =
        static_cast<double>(bare_all) / median(plain, bare_passes, bare_all, 0, plain_memory);
  }

  /// After random stores: draws the same elements again and compares them, and flushes. The lane's number and
  /// its count of accesses decide what it draws.
  void read_back() {
    using stores = pass_kernel<cached_array, random_stores>;
    result_.writes = result_.accesses * passes();
    put(found_, pass_found{});
    run_through(cached_, task_, grid_of<stores>(),
                kernel_of<cached_array, random_loads>(array_, lane_accesses<stores>(), true));
    need_all_right(found().wrong, result_.accesses, "the cache after they were stored");
    result_.flush_seconds = flush_seconds(cached_);
  }

  /// A pass over the whole run of bytes. `sums`: it adds up all elements.
  template <class Pass>
  void over_all(std::uint64_t accesses, bool sums) {
    using ours = pass_kernel<cached_array, Pass>;
    const std::uint64_t sum = sums ? sum_of_stamps(array_.size()) : 0;
    const ours mine = kernel_of<cached_array, Pass>(array_, 0);
    note<ours>(median(mine, passes(), accesses, sum, the_cache), accesses, accesses * sizeof(T));
    const bare_array plain = make_bare();
    const std::uint64_t bare_sum = sums ? sum_of_stamps(plain.size()) : 0;
    const double share = static_cast<double>(plain.size()) / static_cast<double>(array_.size());
    result_.bare_per_second =
        static_cast<double>(accesses) * share /
        median(kernel_of<bare_array, Pass>(plain, 0), bare_passes, accesses, bare_sum, plain_memory);
  }

  /// Seconds of gathering the job's rows, drawn anew from elements before each pass.
  template <class Elements>
  double gathered(const Elements& elements, const row_job<T>& job, std::uint32_t count, const char* where) {
    const auto draw = [&] { launch(draw_rows<T>{job, elements.size() / job.width, task_.options.seed}); };
    const auto check = [&] {
      launch(check_rows<T>{job, found_.template lanes_as<pass_found>()});
      need_all_right(found().wrong, job.count * job.width, where);
    };
    return median(row_gather<Elements, T>{elements, job}, count, draw, check);
  }

  void gather() {
    const std::uint64_t row_bytes = task_.point.row_bytes;
    const backend kind = task_.on.kind();
    const std::uint64_t usual = kind == backend::cuda ? std::uint64_t{1} << 22 : std::uint64_t{1} << 12;
    const std::uint64_t count = task_.options.accesses.value_or(std::min(usual, 2 * GiB / row_bytes));
    const memory::buffer rows(kind, memory::place::device, count * sizeof(std::uint64_t));
    const memory::buffer out(kind, memory::place::device, count * row_bytes);
    const row_job<T> job{rows.template lanes_as<std::uint64_t>(), out.template lanes_as<T>(), count,
                         static_cast<std::uint32_t>(row_bytes / sizeof(T))};
    note<row_gather<cached_array, T>>(gathered(array_, job, passes(), the_cache), count, count * row_bytes);
    result_.bare_per_second =
        static_cast<double>(count) / gathered(make_bare(), job, bare_passes, plain_memory);
  }

  const cache_bench_task& task_;
  plain_cache cached_;
  cached_array array_;
  memory::buffer found_, bare_;
  cache_bench_result result_;
};

}  // namespace

cache_bench_result run_pass_bench(const cache_bench_task& task) {
  if (task.point.element_bytes == 4) return pass_run<std::uint32_t>(task).measure();
  return pass_run<std::uint64_t>(task).measure();
}

}  // namespace sluice::tool

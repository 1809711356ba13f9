// What the engines of the cache benchmark do around their launches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "sluice/array/cached_volume.h"
#include "sluice/base/error.h"
#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/cache_bench.h"

namespace sluice::tool {

/// `asked` lanes, or with 0 as many as suit the machine, on a GPU at most `wanted`; no more than are resident
/// at once.
template <class Kernel>
lane::grid grid_for(lane::machine& on, std::uint64_t asked, std::uint64_t wanted) {
  constexpr std::uint32_t block_lanes = Kernel::resident.block_lanes;
  const bool on_gpu = on.kind() == backend::cuda;
  const std::uint64_t most = std::uint64_t{lane::resident_blocks<Kernel>(on, block_lanes)} * block_lanes;
  std::uint64_t lanes = asked != 0 ? asked : (on_gpu ? std::max<std::uint64_t>(wanted, 32) : 256);
  lanes = std::min(lanes, most);
  if (lanes <= block_lanes) return {1, static_cast<std::uint32_t>(lanes < 32 ? lanes : lanes / 32 * 32)};
  return {static_cast<std::uint32_t>(lanes / block_lanes), block_lanes};
}

inline std::uint64_t lanes_of(lane::grid shape) { return std::uint64_t{shape.blocks} * shape.block_lanes; }

/// Waits for the launch. Where a lane `failed`, or the user asks, `cancel` ends the waits of all others.
/// Throws error{cancelled} for the latter.
inline lane::launch_report wait_for(lane::running_launch& launch, const std::function<bool()>& stop_asked,
                                    const std::function<bool()>& failed,
                                    const std::function<void()>& cancel) {
  constexpr auto glance = std::chrono::milliseconds(5);
  bool ended = false;
  while (!launch.finished()) {
    std::this_thread::sleep_for(glance);
    if (ended || (!stop_asked() && !failed())) continue;
    cancel();
    ended = true;
  }
  const lane::launch_report report = launch.wait();
  if (stop_asked()) throw error(error_kind::cancelled, "stopped by Ctrl-C");
  return report;
}

/// Runs the kernel over a cache, and returns the seconds that it took. Throws as wait_for(), and
/// error{io_failure} for the first failed access.
template <class Cached, class Kernel>
double run_through(Cached& cached, const cache_bench_task& task, lane::grid shape, const Kernel& kernel) {
  const auto launch = lane::start(task.on, shape, kernel);
  const lane::launch_report report = wait_for(
      *launch, task.stop_asked, [&] { return cached.failed(); }, [&] { cached.cancel(); });
  cached.sync();
  return report.seconds;
}

/// Seconds that the flush takes.
template <class Cached>
double flush_seconds(Cached& cached) {
  const auto began = std::chrono::steady_clock::now();
  cached.flush();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Values that lanes share with the host, written before a launch and read after it.
template <class T>
void put(const memory::buffer& to, const T& value) {
  memory::copy_in(to.view(), 0, std::as_bytes(std::span(&value, 1)));
}
template <class T>
std::vector<T> take(const memory::buffer& from, std::size_t count) {
  std::vector<T> values(count);
  memory::copy_out(from.view(), 0, std::as_writable_bytes(std::span(values)));
  return values;
}

/// The cache that the point asks for.
cached_options settings_of(const cache_bench_task& task);

/// Takes over what lanes and drives say of the commands. Throws error{wrong_answer} where they disagree.
void account_commands(const io_truth& io, cache_bench_result& result);

/// Throws error{wrong_answer} where values read through `where` were wrong.
void need_all_right(std::uint64_t wrong, std::uint64_t of, const char* where);

}  // namespace sluice::tool

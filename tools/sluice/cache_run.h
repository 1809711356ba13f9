// What both engines of the cache benchmark do around their launches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "sluice/array/cached_volume.h"
#include "sluice/base/error.h"
#include "sluice/lane/launch.h"
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

/// The cache that the point asks for.
cached_options settings_of(const storage& drives, const cache_bench_point& point,
                           const cache_bench_options& options);

/// Takes over what lanes and drives say of the commands. Throws error{wrong_answer} where they disagree.
void account_commands(const io_truth& io, cache_bench_result& result);

/// Throws error{wrong_answer} where values read through `where` were wrong.
void need_all_right(std::uint64_t wrong, std::uint64_t of, const char* where);

}  // namespace sluice::tool

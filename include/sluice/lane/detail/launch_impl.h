// The templates behind launch.h: which compiler sees the call decides which machines it can reach.
#pragma once

#include <string>
#include <type_traits>

#include "sluice/lane/launch.h"

namespace sluice::lane {

/// Blocks the CPU backend keeps in flight at once on each worker.
inline constexpr std::uint32_t cpu_blocks_per_worker = 64;

template <class Kernel>
std::uint32_t resident_blocks(machine& on, [[maybe_unused]] std::uint32_t block_lanes) {
#if defined(__CUDACC__)
  if (on.kind() == backend::cuda) {
    int per_processor = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, run_kernel<Kernel>, static_cast<int>(block_lanes), 0);
    return static_cast<std::uint32_t>(per_processor) * on.processors();
  }
#endif
  return cpu_blocks_per_worker * on.processors();
}

template <class Kernel>
std::unique_ptr<running_launch> start(machine& on, grid shape, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel travels to the lanes as plain bytes");
#if defined(__CUDACC__)
  if (on.kind() == backend::cuda) {
    void* before = on.mark_stream();
    run_kernel<<<shape.blocks, shape.block_lanes, 0, static_cast<cudaStream_t>(on.stream())>>>(kernel);
    return on.follow_stream(before);
  }
#endif
  return on.start_on_cpu(shape, [kernel] { kernel(); });
}

}  // namespace sluice::lane

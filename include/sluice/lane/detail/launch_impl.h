// The templates behind launch.h: which compiler sees the call decides which machines it can reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "sluice/base/error.h"
#include "sluice/lane/launch.h"

namespace sluice::lane {

/// Blocks and lanes that the CPU backend keeps in flight at once on each worker, at most (one block at
/// least).
inline constexpr std::uint32_t cpu_blocks_per_worker = 64;
inline constexpr std::uint32_t cpu_lanes_per_worker = 2048;

constexpr std::uint32_t cpu_blocks_in_flight(std::uint32_t block_lanes) {
  return std::clamp(cpu_lanes_per_worker / std::max(block_lanes, 1U), 1U, cpu_blocks_per_worker);
}

#if defined(__CUDACC__)
template <class Kernel>
constexpr auto entry_of() {
  if constexpr (requires { Kernel::resident; })
    return run_resident_kernel<Kernel>;
  else
    return run_kernel<Kernel>;
}
#endif

template <class Kernel>
std::uint32_t resident_blocks(machine& on, std::uint32_t block_lanes) {
#if defined(__CUDACC__)
  if (on.kind() == backend::cuda) {
    int per_processor = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, entry_of<Kernel>(),
                                                  static_cast<int>(block_lanes), 0);
    return static_cast<std::uint32_t>(per_processor) * on.processors();
  }
#endif
  return cpu_blocks_in_flight(block_lanes) * on.processors();
}

template <class Kernel>
void preload([[maybe_unused]] machine& on) {
#if defined(__CUDACC__)
  if (on.kind() != backend::cuda) return;
  cudaFuncAttributes attributes;
  if (const cudaError_t code = cudaFuncGetAttributes(&attributes, entry_of<Kernel>()); code != cudaSuccess)
    throw error(error_kind::unavailable, std::string("loading a kernel: ") + cudaGetErrorString(code));
#endif
}

template <class Kernel>
std::unique_ptr<running_launch> start(machine& on, grid shape, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel travels to the lanes as plain bytes");
#if defined(__CUDACC__)
  if (on.kind() == backend::cuda) {
    void* before = on.mark_stream();
    constexpr auto entry = entry_of<Kernel>();
    entry<<<shape.blocks, shape.block_lanes, 0, static_cast<cudaStream_t>(on.stream())>>>(kernel);
    return on.follow_stream(before);
  }
#endif
  return on.start_on_cpu(shape, [kernel] { kernel(); });
}

}  // namespace sluice::lane

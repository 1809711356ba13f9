// Who a lane is: its place in the warp, the block and the grid.
#pragma once

#include <cstdint>

#include "sluice/lane/executor.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

#if SLUICE_ON_GPU
__device__ SLUICE_INLINE std::uint32_t block_index() { return blockIdx.x; }
__device__ SLUICE_INLINE std::uint32_t block_lanes() { return blockDim.x; }
__device__ SLUICE_INLINE std::uint32_t thread_index() { return threadIdx.x; }
__device__ SLUICE_INLINE std::uint32_t grid_blocks() { return gridDim.x; }
/// The SM (or worker thread) that runs the caller: for choosing among queues, never for correctness.
__device__ SLUICE_INLINE std::uint32_t processor() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
#else
SLUICE_HD inline std::uint32_t block_index() { return executor::self().block; }
SLUICE_HD inline std::uint32_t block_lanes() { return executor::self().block_lanes; }
SLUICE_HD inline std::uint32_t thread_index() { return executor::self().thread; }
SLUICE_HD inline std::uint32_t grid_blocks() { return executor::self().blocks; }
SLUICE_HD inline std::uint32_t processor() { return executor::self().processor; }
#endif

/// Position in the warp, 0 to 31.
SLUICE_HD SLUICE_INLINE std::uint32_t lane_index() { return thread_index() & 31U; }
/// Position in the grid.
SLUICE_HD SLUICE_INLINE std::uint64_t grid_index() {
  return std::uint64_t{block_index()} * block_lanes() + thread_index();
}
SLUICE_HD SLUICE_INLINE std::uint64_t grid_lanes() { return std::uint64_t{grid_blocks()} * block_lanes(); }
/// The caller's warp, counted over the grid (blocks are whole warps).
SLUICE_HD SLUICE_INLINE std::uint32_t warp_index() { return static_cast<std::uint32_t>(grid_index() / 32); }

}  // namespace sluice::lane

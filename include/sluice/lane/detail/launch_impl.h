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

namespace detail {

inline void expect_success(cudaError_t code, const char* doing) {
  if (code != cudaSuccess)
    throw error(error_kind::unavailable, std::string(doing) + ": " + cudaGetErrorString(code));
}

/// Shared memory that a block of the kernel asks for: all that an SM has, where it wants to be alone.
template <class Kernel>
std::size_t shared_bytes() {
  if constexpr (requires { Kernel::alone; }) {
    int device = 0, most = 0;
    expect_success(cudaGetDevice(&device), "asking which GPU this is");
    expect_success(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                   "asking for the GPU's shared memory");
    static const cudaError_t granted =
        cudaFuncSetAttribute(entry_of<Kernel>(), cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    expect_success(granted, "asking for a whole SM");
    return static_cast<std::size_t>(most);
  }
  return 0;
}

/// Launches the kernel once without doing anything. CUDA enlarges the lanes' local memory when a kernel that
/// needs more first comes, and waits for running kernels to do so: for ever, where one of them accompanies
/// it.
template <class Kernel>
void warm_up(machine& on, std::uint32_t block_lanes, const Kernel& kernel) {
  static const cudaError_t done = [&] {
    constexpr auto entry = entry_of<Kernel>();
    entry<<<1, block_lanes, shared_bytes<Kernel>(), static_cast<cudaStream_t>(on.stream())>>>(kernel, false);
    return cudaStreamSynchronize(static_cast<cudaStream_t>(on.stream()));
  }();
  expect_success(done, "loading a kernel");
}

}  // namespace detail
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
  detail::expect_success(cudaFuncGetAttributes(&attributes, entry_of<Kernel>()), "loading a kernel");
#endif
}

template <class Kernel>
std::unique_ptr<running_launch> start(machine& on, grid shape, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel travels to the lanes as plain bytes");
#if defined(__CUDACC__)
  if (on.kind() == backend::cuda) {
    detail::warm_up(on, shape.block_lanes, kernel);
    const std::size_t shared = detail::shared_bytes<Kernel>();
    void* before = on.mark_stream();
    constexpr auto entry = entry_of<Kernel>();
    entry<<<shape.blocks, shape.block_lanes, shared, static_cast<cudaStream_t>(on.stream())>>>(kernel, true);
    return on.follow_stream(before);
  }
#endif
  return on.start_on_cpu(shape, [kernel] { kernel(); });
}

}  // namespace sluice::lane

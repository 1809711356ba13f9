#include "tools/sluice/comparators/gpu_room.h"

#include <cstddef>

#if defined(__CUDACC__)
#include "base/cuda_calls.cuh"
#endif

namespace sluice::tool {

std::uint64_t free_gpu_bytes() {
  std::size_t left = 0;
#if defined(__CUDACC__)
  std::size_t all = 0;
  check(cudaMemGetInfo(&left, &all), "asking for free GPU memory");
#endif
  return left;
}

void use_gpu() {
#if defined(__CUDACC__)
  int device = 0;
  check(cudaGetDevice(&device), "asking which GPU this is");
  check(cudaSetDevice(device), "choosing the GPU");
#endif
}

}  // namespace sluice::tool

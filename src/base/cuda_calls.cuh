// What every call of the CUDA runtime goes through.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <string>

#include "sluice/base/error.h"

namespace sluice {

/// Must come before the process's first CUDA call. A kernel that CUDA loads late can wait for a running one,
/// and hang; and so can one whose stream shares a hardware queue with that of a kernel which runs long,
/// unless there are as many queues as there can be.
inline void load_kernels_eagerly() {
  static const bool once =
      setenv("CUDA_MODULE_LOADING", "EAGER", 0) == 0 && setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0) == 0;
  static_cast<void>(once);
}

/// Throws where `code` is an error: what we were doing, and what CUDA calls it.
inline void check(cudaError_t code, const char* doing) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  const bool lacking = code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ||
                       code == cudaErrorMemoryAllocation || code == cudaErrorInvalidDevice ||
                       code == cudaErrorDevicesUnavailable;
  throw error(lacking ? error_kind::unavailable : error_kind::io_failure,
              std::string(doing) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")");
}

}  // namespace sluice

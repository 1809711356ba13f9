// What every call of the CUDA runtime goes through.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
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

/// Writes a word of GPU memory once everything before it in the stream is done, and seen by whoever
/// sees the word.
inline void write_behind(cudaStream_t stream, std::uint32_t* word, std::uint32_t value) {
  using write_value = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
  static const auto write = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult how{};
    constexpr unsigned since = 12000;  // CUDA 12: without a limit on who may
    check(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &found, since, cudaEnableDefault, &how),
          "looking for cuStreamWriteValue32");
    return reinterpret_cast<write_value>(found);
  }();
  if (write == nullptr || write(stream, reinterpret_cast<CUdeviceptr>(word), value, 0) != CUDA_SUCCESS)
    throw error(error_kind::io_failure, "the GPU's stream refuses to write a word");
}

}  // namespace sluice

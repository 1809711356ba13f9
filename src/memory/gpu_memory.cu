#include "memory/gpu_memory.h"

#if defined(SLUICE_CUDA)
#include "base/cuda_calls.cuh"
#else
#include "sluice/base/error.h"
#endif

namespace sluice::memory {

#if defined(SLUICE_CUDA)

namespace {

/// One stream for all copies: it waits for no kernel, and no kernel for it.
cudaStream_t copy_stream() {
  static const cudaStream_t stream = [] {
    load_kernels_eagerly();
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "creating the copy stream");
    return made;
  }();
  return stream;
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaStream_t stream = copy_stream();
  check(cudaMemcpyAsync(to, from, bytes, kind, stream), "copying");
  check(cudaStreamSynchronize(stream), "copying");
}

}  // namespace

std::byte* allocate_device(std::size_t bytes) {
  load_kernels_eagerly();
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "allocating GPU memory");
  check(cudaMemsetAsync(memory, 0, bytes, copy_stream()), "clearing GPU memory");
  check(cudaStreamSynchronize(copy_stream()), "clearing GPU memory");
  return static_cast<std::byte*>(memory);
}

void free_device(std::byte* memory) noexcept { cudaFree(memory); }

std::byte* pin_host(std::byte* memory, std::size_t bytes) {
  load_kernels_eagerly();
  check(cudaHostRegister(memory, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable),
        "pinning host memory");
  void* on_device = nullptr;
  check(cudaHostGetDevicePointer(&on_device, memory, 0), "mapping host memory");
  return static_cast<std::byte*>(on_device);
}

void unpin_host(std::byte* memory) noexcept { cudaHostUnregister(memory); }

void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyHostToDevice);
}

void copy_from_device(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToHost);
}

#else

namespace {

[[noreturn]] void refuse() {
  throw error(error_kind::unavailable, "this build has no CUDA backend", "configure with -DSLUICE_CUDA=ON");
}

}  // namespace

std::byte* allocate_device(std::size_t) { refuse(); }
void free_device(std::byte*) noexcept {}
std::byte* pin_host(std::byte*, std::size_t) { refuse(); }
void unpin_host(std::byte*) noexcept {}
void copy_to_device(std::byte*, const std::byte*, std::size_t) { refuse(); }
void copy_from_device(std::byte*, const std::byte*, std::size_t) { refuse(); }

#endif

}  // namespace sluice::memory

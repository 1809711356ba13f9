// The words that let one source compile for the GPU and for the CPU. Only this room may name the compiler.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__
#define SLUICE_NOINLINE __noinline__
#define SLUICE_INLINE __forceinline__
#else
#define SLUICE_HD
#define SLUICE_NOINLINE __attribute__((noinline))
#define SLUICE_INLINE inline __attribute__((always_inline))
#endif

// True while device code is being compiled; false in host code, also under nvcc.
#if defined(__CUDA_ARCH__)
#define SLUICE_ON_GPU 1
#else
#define SLUICE_ON_GPU 0
#endif

// Before a loop with a constant count: unrolled for the GPU, so that arrays stay in registers. The host's
// compiler knows no such pragma, also under nvcc.
#if SLUICE_ON_GPU
#define SLUICE_UNROLL _Pragma("unroll")
#else
#define SLUICE_UNROLL
#endif

// True where ThreadSanitizer watches. It does not model fences, so the few that pay are release stores there.
#if defined(SLUICE_TSAN)
#elif defined(__SANITIZE_THREAD__)
#define SLUICE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLUICE_TSAN 1
#endif
#endif
#ifndef SLUICE_TSAN
#define SLUICE_TSAN 0
#endif

// What the sanitizers must be told about fibers: where a stack changes, and which edges order memory.
#pragma once

#include <cstddef>

#include "sluice/lane/hd.h"

#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_ASAN 1
#endif
#endif
#ifndef SLUICE_ASAN
#define SLUICE_ASAN 0
#endif

#if SLUICE_TSAN
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

#if SLUICE_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, std::size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old, std::size_t* size_old);
void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
}
#endif

namespace sluice::lane::executor {

/// The caller has seen everything that was released to `token`.
inline void edge_acquire([[maybe_unused]] void* token) {
#if SLUICE_TSAN
  __tsan_acquire(token);
#endif
}

/// Everything the caller did is seen by whoever acquires `token` later.
inline void edge_release([[maybe_unused]] void* token) {
#if SLUICE_TSAN
  __tsan_release(token);
#endif
}

}  // namespace sluice::lane::executor

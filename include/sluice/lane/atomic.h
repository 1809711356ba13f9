// Scoped atomics that compile for both machines, and the switch by which tests weaken one order at a time.
#pragma once

#include <cuda/atomic>

#include "sluice/lane/executor.h"
#include "sluice/lane/hd.h"
#if SLUICE_ON_GPU
#include "sluice/lane/detail/global_atomics.h"
#endif

namespace sluice::lane {

using order = cuda::std::memory_order;
inline constexpr order relaxed = cuda::std::memory_order_relaxed;
inline constexpr order acquire = cuda::std::memory_order_acquire;
inline constexpr order release = cuda::std::memory_order_release;
inline constexpr order acq_rel = cuda::std::memory_order_acq_rel;
inline constexpr order seq_cst = cuda::std::memory_order_seq_cst;

/// A view of a word that other lanes (device scope) or also the CPU and drives (system scope) read and write
/// at once. Every operation is a schedule point on the CPU backend.
template <class T, cuda::thread_scope Scope>
class atomic_ref {
 public:
  SLUICE_HD SLUICE_INLINE explicit atomic_ref(T& word) : ref_(word) {}

  SLUICE_HD SLUICE_INLINE T load(order o) const { return step(), ref_.load(o); }
  SLUICE_HD SLUICE_INLINE void store(T value, order o) const { step_to_change(), ref_.store(value, o); }
  SLUICE_HD SLUICE_INLINE T exchange(T value, order o) const {
    return step_to_change(), ref_.exchange(value, o);
  }
  SLUICE_HD SLUICE_INLINE T fetch_add(T value, order o) const {
    return step_to_change(), ref_.fetch_add(value, o);
  }
  SLUICE_HD SLUICE_INLINE T fetch_sub(T value, order o) const {
    return step_to_change(), ref_.fetch_sub(value, o);
  }
  SLUICE_HD SLUICE_INLINE T fetch_or(T value, order o) const {
    return step_to_change(), ref_.fetch_or(value, o);
  }
  SLUICE_HD SLUICE_INLINE T fetch_and(T value, order o) const {
    return step_to_change(), ref_.fetch_and(value, o);
  }
  SLUICE_HD SLUICE_INLINE T fetch_max(T value, order o) const {
    return step_to_change(), ref_.fetch_max(value, o);
  }

  /// Stores `desired` where the word equals `expected`; else loads the word into `expected`, relaxed.
  SLUICE_HD SLUICE_INLINE bool compare_exchange(T& expected, T desired, order success) const {
    step();
    const bool changed = ref_.compare_exchange_strong(expected, desired, success, relaxed);
#if !SLUICE_ON_GPU
    if (changed) executor::note_change();
#endif
    return changed;
  }

 private:
  SLUICE_HD SLUICE_INLINE static void step() {
#if !SLUICE_ON_GPU
    executor::schedule_point();
#endif
  }
  SLUICE_HD SLUICE_INLINE static void step_to_change() {
#if !SLUICE_ON_GPU
    executor::schedule_point();
    executor::note_change();
#endif
  }
#if SLUICE_ON_GPU
  static constexpr bool is_word = cuda::std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
  cuda::std::conditional_t<is_word, detail::global_atomic_ref<T, Scope>, cuda::atomic_ref<T, Scope>> ref_;
#else
  cuda::atomic_ref<T, Scope> ref_;
#endif
};

/// Seen by all lanes of one GPU.
template <class T>
using device_ref = atomic_ref<T, cuda::thread_scope_device>;
/// Seen by lanes, CPU threads and devices.
template <class T>
using system_ref = atomic_ref<T, cuda::thread_scope_system>;

template <class T>
SLUICE_HD SLUICE_INLINE device_ref<T> on_device(T& word) {
  return device_ref<T>(word);
}
template <class T>
SLUICE_HD SLUICE_INLINE system_ref<T> on_system(T& word) {
  return system_ref<T>(word);
}

/// One fence for several releases that follow it, where each would cost one of its own (5 to 9 µs on an H200
/// while writes to host memory are under way, 2026-12-01). What follows is stored or added with `released`.
SLUICE_HD SLUICE_INLINE void fence_for_releases() {
#if SLUICE_ON_GPU
  cuda::atomic_thread_fence(acq_rel, cuda::thread_scope_device);
#endif
}
/// The order of an operation behind fence_for_releases(): the fence makes it a release. On the CPU it is one
/// by itself, which ThreadSanitizer understands.
#if SLUICE_ON_GPU
inline constexpr order released = relaxed;
#else
inline constexpr order released = release;
#endif

}  // namespace sluice::lane

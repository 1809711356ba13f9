// Atomic operations on words in global memory, as PTX. cuda::atomic_ref has generic addresses, for which
// ptxas 13.0 adds to each 64-bit operation what shared and local memory would need: 20 instructions and 6
// registers each, in the middle of the hot paths (sm_90, 2026-12-01).
#pragma once

#include <cstdint>
#include <cuda/atomic>

namespace sluice::lane::detail {

/// Operations of one scope on words of one size. Address: of the global window.
template <cuda::thread_scope Scope, std::size_t Bytes>
struct global_word;

// One PTX instruction by order; orders that an operation does not have are taken for the next stronger one.
#define SLUICE_PTX_BY_ORDER(o, relaxed_form, acquire_form, release_form, acq_rel_form) \
  switch (o) {                                                                         \
    case cuda::std::memory_order_relaxed:                                              \
      relaxed_form;                                                                    \
      break;                                                                           \
    case cuda::std::memory_order_consume:                                              \
    case cuda::std::memory_order_acquire:                                              \
      acquire_form;                                                                    \
      break;                                                                           \
    case cuda::std::memory_order_release:                                              \
      release_form;                                                                    \
      break;                                                                           \
    case cuda::std::memory_order_acq_rel:                                              \
    case cuda::std::memory_order_seq_cst:                                              \
      acq_rel_form;                                                                    \
      break;                                                                           \
  }
#define SLUICE_PTX_CHANGE(sem, scope, op, type, reg)                         \
  asm volatile("atom." sem "." scope ".global." op "." type " %0, [%1], %2;" \
               : "=" reg(before)                                             \
               : "l"(at), reg(value)                                         \
               : "memory")
#define SLUICE_PTX_CHANGES(name, scope, op, type, reg, word)                                           \
  __device__ __forceinline__ static word name(std::size_t at, word value, cuda::std::memory_order o) { \
    word before;                                                                                       \
    SLUICE_PTX_BY_ORDER(o, SLUICE_PTX_CHANGE("relaxed", scope, op, type, reg),                         \
                        SLUICE_PTX_CHANGE("acquire", scope, op, type, reg),                            \
                        SLUICE_PTX_CHANGE("release", scope, op, type, reg),                            \
                        SLUICE_PTX_CHANGE("acq_rel", scope, op, type, reg))                            \
    return before;                                                                                     \
  }
#define SLUICE_PTX_LOAD(sem, scope, type, reg) \
  asm volatile("ld." sem "." scope ".global." type " %0, [%1];" : "=" reg(value) : "l"(at) : "memory")
#define SLUICE_PTX_STORE(sem, scope, type, reg) \
  asm volatile("st." sem "." scope ".global." type " [%0], %1;" : : "l"(at), reg(value) : "memory")
#define SLUICE_PTX_CAS(sem, scope, type, reg)                                 \
  asm volatile("atom." sem "." scope ".global.cas." type " %0, [%1], %2, %3;" \
               : "=" reg(before)                                              \
               : "l"(at), reg(expected), reg(desired)                         \
               : "memory")
#define SLUICE_PTX_WORD(Scope, scope, word, bits, reg)                                                    \
  template <>                                                                                             \
  struct global_word<Scope, sizeof(word)> {                                                               \
    __device__ __forceinline__ static word load(std::size_t at, cuda::std::memory_order o) {              \
      word value;                                                                                         \
      if (o == cuda::std::memory_order_relaxed)                                                           \
        SLUICE_PTX_LOAD("relaxed", scope, "u" bits, reg);                                                 \
      else                                                                                                \
        SLUICE_PTX_LOAD("acquire", scope, "u" bits, reg);                                                 \
      return value;                                                                                       \
    }                                                                                                     \
    __device__ __forceinline__ static void store(std::size_t at, word value, cuda::std::memory_order o) { \
      if (o == cuda::std::memory_order_relaxed)                                                           \
        SLUICE_PTX_STORE("relaxed", scope, "u" bits, reg);                                                \
      else                                                                                                \
        SLUICE_PTX_STORE("release", scope, "u" bits, reg);                                                \
    }                                                                                                     \
    SLUICE_PTX_CHANGES(exchange, scope, "exch", "b" bits, reg, word)                                      \
    SLUICE_PTX_CHANGES(fetch_add, scope, "add", "u" bits, reg, word)                                      \
    SLUICE_PTX_CHANGES(fetch_or, scope, "or", "b" bits, reg, word)                                        \
    SLUICE_PTX_CHANGES(fetch_and, scope, "and", "b" bits, reg, word)                                      \
    SLUICE_PTX_CHANGES(fetch_max, scope, "max", "u" bits, reg, word)                                      \
    __device__ __forceinline__ static word compare_exchange(std::size_t at, word expected, word desired,  \
                                                            cuda::std::memory_order o) {                  \
      word before;                                                                                        \
      SLUICE_PTX_BY_ORDER(o, SLUICE_PTX_CAS("relaxed", scope, "b" bits, reg),                             \
                          SLUICE_PTX_CAS("acquire", scope, "b" bits, reg),                                \
                          SLUICE_PTX_CAS("release", scope, "b" bits, reg),                                \
                          SLUICE_PTX_CAS("acq_rel", scope, "b" bits, reg))                                \
      return before;                                                                                      \
    }                                                                                                     \
  };

SLUICE_PTX_WORD(cuda::thread_scope_device, "gpu", std::uint32_t, "32", "r")
SLUICE_PTX_WORD(cuda::thread_scope_device, "gpu", std::uint64_t, "64", "l")
SLUICE_PTX_WORD(cuda::thread_scope_system, "sys", std::uint32_t, "32", "r")
SLUICE_PTX_WORD(cuda::thread_scope_system, "sys", std::uint64_t, "64", "l")

#undef SLUICE_PTX_WORD
#undef SLUICE_PTX_CAS
#undef SLUICE_PTX_STORE
#undef SLUICE_PTX_LOAD
#undef SLUICE_PTX_CHANGES
#undef SLUICE_PTX_CHANGE
#undef SLUICE_PTX_BY_ORDER

/// cuda::atomic_ref's part that this project uses, for integers of 4 or 8 bytes.
template <class T, cuda::thread_scope Scope>
class global_atomic_ref {
  using ops = global_word<Scope, sizeof(T)>;
  using word = cuda::std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using order = cuda::std::memory_order;

 public:
  __device__ __forceinline__ explicit global_atomic_ref(T& at) : at_(__cvta_generic_to_global(&at)) {}

  __device__ __forceinline__ T load(order o) const { return static_cast<T>(ops::load(at_, o)); }
  __device__ __forceinline__ void store(T value, order o) const {
    ops::store(at_, static_cast<word>(value), o);
  }
  __device__ __forceinline__ T exchange(T value, order o) const {
    return static_cast<T>(ops::exchange(at_, static_cast<word>(value), o));
  }
  __device__ __forceinline__ T fetch_add(T value, order o) const {
    return static_cast<T>(ops::fetch_add(at_, static_cast<word>(value), o));
  }
  __device__ __forceinline__ T fetch_sub(T value, order o) const {
    return static_cast<T>(ops::fetch_add(at_, word{0} - static_cast<word>(value), o));
  }
  __device__ __forceinline__ T fetch_or(T value, order o) const {
    return static_cast<T>(ops::fetch_or(at_, static_cast<word>(value), o));
  }
  __device__ __forceinline__ T fetch_and(T value, order o) const {
    return static_cast<T>(ops::fetch_and(at_, static_cast<word>(value), o));
  }
  __device__ __forceinline__ T fetch_max(T value, order o) const {
    static_assert(cuda::std::is_unsigned_v<T>);
    return static_cast<T>(ops::fetch_max(at_, static_cast<word>(value), o));
  }
  __device__ __forceinline__ bool compare_exchange_strong(T& expected, T desired, order success,
                                                          order /*failure*/) const {
    const word before =
        ops::compare_exchange(at_, static_cast<word>(expected), static_cast<word>(desired), success);
    const bool changed = before == static_cast<word>(expected);
    expected = static_cast<T>(before);
    return changed;
  }

 private:
  std::size_t at_;
};

}  // namespace sluice::lane::detail

// Waiting that knows when to give up: a clock, a budget, and the pause between two looks.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/executor.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

/// Nanoseconds since some moment, shared by all lanes.
SLUICE_HD SLUICE_INLINE std::uint64_t clock_ns() {
#if SLUICE_ON_GPU
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return executor::clock_ns();
#endif
}

/// True now and then, for each lane in its time; always under an exploration. For checks that a fruitless
/// look need not make each time. By the cycle counter on a GPU, by counting on the CPU.
SLUICE_HD SLUICE_INLINE bool now_and_then() {
#if SLUICE_ON_GPU
  std::uint32_t cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  return (cycles & 0x1e0U) == 0;
#else
  return executor::now_and_then();
#endif
}

/// The pause after the n-th fruitless look of a wait: longer and longer, up to a third of a microsecond on a
/// GPU.
SLUICE_HD SLUICE_INLINE void pause([[maybe_unused]] std::uint32_t looks) {
#if SLUICE_ON_GPU
  __nanosleep(looks < 64 ? 20 + 4 * looks : 300);
#else
  executor::relax();
#endif
}

/// How long one wait may last. The clock is first read after a few fruitless looks, so a wait that ends at
/// once costs nothing.
class budget {
 public:
  /// `abort` may be null; a word that turns non-zero ends every wait that watches it. The host writes it, but
  /// it lies in the lanes' own memory: a multiprocessor of a GPU answers loads in order, so that one from
  /// the host's memory holds up all that come after it (one H200: 6,000 to 30,000 cycles a load in place of
  /// 800, 2026-12-02).
  SLUICE_HD explicit budget(std::uint64_t nanoseconds, std::uint32_t* abort = nullptr)
      : left_ns_(nanoseconds), abort_(abort) {}

  /// Call once a fruitless look: pauses, a little longer each time, and says whether the wait is over.
  /// Lanes: any lane for itself; a team lets its leader call and broadcasts the answer.
  SLUICE_HD bool spent() {
    pause(++looks_);
    if (looks_ % clock_every != 0) return false;
    if (abort_ != nullptr && on_system(*abort_).load(relaxed) != 0) return true;
    const std::uint64_t now = clock_ns();
    if (end_ns_ == 0) end_ns_ = now + left_ns_;
    return now > end_ns_;
  }
  SLUICE_HD std::uint32_t looks() const { return looks_; }

 private:
  static constexpr std::uint32_t clock_every = 16;
  std::uint64_t left_ns_;
  std::uint64_t end_ns_ = 0;
  std::uint32_t* abort_;
  std::uint32_t looks_ = 0;
};

}  // namespace sluice::lane

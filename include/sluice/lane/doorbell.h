// The store that tells a drive there is work, and the wake-up of a software drive that sleeps.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

/// One doorbell register of one queue, as lanes reach it.
struct doorbell {
  std::uint32_t* value = nullptr;  ///< the register: device memory, pinned memory, or a mapped BAR
  std::uint32_t* sleeper =
      nullptr;  ///< word of the service thread, non-zero while it sleeps (sleep.h); null where none does
  bool near_lanes = false;  ///< read by lanes of the same GPU only
};

#if !SLUICE_ON_GPU
namespace executor {
void wake(std::uint32_t& sleeper);  // clears the word and wakes the thread that set it (sleep.h)
void note_bell();                   // tells the caller's executor that I/O is under way
}  // namespace executor
#endif

/// Writes the register. Order: everything the caller wrote or acquired before is visible to whoever reads the
/// new value with acquire at system scope (release; a drive's fetch of the entries comes after).
SLUICE_HD SLUICE_INLINE void ring(const doorbell& bell, std::uint32_t value) {
#if SLUICE_ON_GPU
  if (bell.near_lanes) return on_device(*bell.value).store(value, release);
  on_system(*bell.value).store(value, release);
#else
  executor::note_bell();
  if (bell.sleeper == nullptr) return on_system(*bell.value).store(value, release);
  // Pairs with sleep_unless(), which sets its word and then looks at the doorbells: one of the two sees the
  // other.
  on_system(*bell.value).store(value, cuda::std::memory_order_seq_cst);
  if (on_system(*bell.sleeper).load(cuda::std::memory_order_seq_cst) != 0) executor::wake(*bell.sleeper);
#endif
}

}  // namespace sluice::lane
